// A small thread pool: no OpenMP, safe after fork, usable from several Python threads at once.
//
// A job is a counter of chunks. The caller works on it too, so a job ends even when every worker
// is busy elsewhere, and nested or concurrent jobs cannot dead-lock. Results never depend on which
// thread takes which chunk: kernels add integers, or write to places of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

namespace edgewise {

// Thrown out of a kernel when the interrupt callback asks to stop.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// CPUs this process may use: affinity and cgroup quota (v1, v2) considered.
int available_cpus();

// A share of the pool: up to `n_threads` threads, the caller among them. `interrupted` is asked by
// the calling thread now and then; when it returns true all threads of the team stop at their next
// poll and Interrupted is thrown.
class Team {
 public:
  using Interrupt = std::function<bool()>;

  explicit Team(int n_threads, Interrupt interrupted = nullptr)
      : n_threads_(n_threads < 1 ? 1 : n_threads),
        interrupted_(std::move(interrupted)),
        stopped_(std::make_shared<std::atomic<bool>>(false)) {}

  int size() const { return n_threads_; }

  // Runs body(task, slot) for task = 0..n_tasks-1; slot < size() names the thread's scratch space.
  void each(std::size_t n_tasks, const std::function<void(std::size_t, int)>& body) const;

  // Runs body(begin, end, slot) over [0, n) in pieces of at least `grain`.
  void range(std::size_t n, std::size_t grain,
             const std::function<void(std::size_t, std::size_t, int)>& body) const;

  // The thread in `slot` alone. Slot 0 is the calling thread, which goes on asking for interrupts;
  // the others hear of them from it.
  Team alone(int slot) const {
    Team team(1, slot == 0 ? interrupted_ : nullptr);
    team.stopped_ = stopped_;
    return team;
  }

  // Throws Interrupted if the user asked to stop; cheap enough for inner loops.
  void poll() const;

 private:
  int n_threads_;
  Interrupt interrupted_;
  std::shared_ptr<std::atomic<bool>> stopped_;
};

}  // namespace edgewise
