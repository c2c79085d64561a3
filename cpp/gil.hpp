// Python's lock, given up and taken back, also in threads that outlive the interpreter.
//
// When the interpreter ends, CPython up to 3.13 ends every daemon thread that asks for the lock by
// pthread_exit, which glibc does by unwinding the stack: a destructor that is noexcept, or a
// catch (...), then aborts the whole process. Such a thread has to stand still instead until the
// process is gone, as it does from CPython 3.14 on.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>
#ifdef __GLIBC__
#include <cxxabi.h>
#endif

namespace edgewise::bindings {

// Calls f, which asks for the lock. Does not return if the interpreter has ended.
template <class F>
auto or_stand_still(F f) noexcept {
#ifdef __GLIBC__
  try {
    return f();
  } catch (const abi::__forced_unwind&) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(24));
  }
#else
  return f();
#endif
}

// Without the lock, as long as it lives.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    or_stand_still([this] { PyEval_RestoreThread(state_); });
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// With the lock, as long as it lives.
class Locked {
 public:
  Locked() : state_(or_stand_still([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace edgewise::bindings
