// For wheels (EDGEWISE_PORTABLE): a module that is linked on a new glibc loads on an old one. Of
// all symbols that the module and its static libstdc++ need, only the four below are newer than
// glibc 2.17. The linker's --wrap sends calls of three of them here; the fourth is a variable.
// Before glibc 2.34 the thread functions are in libpthread, which Python itself has loaded.
#include <pthread.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define EDGEWISE_OLDEST "GLIBC_2.2.5"
constexpr int kStatVersion = 1;
#elif defined(__aarch64__)
#define EDGEWISE_OLDEST "GLIBC_2.17"
constexpr int kStatVersion = 0;
#else
#error "EDGEWISE_PORTABLE knows x86-64 and aarch64"
#endif

extern "C" {

int old_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int old_pthread_once(pthread_once_t*, void (*)());
int old_fxstat64(int, int, struct stat64*);
__asm__(".symver old_pthread_create, pthread_create@" EDGEWISE_OLDEST);
__asm__(".symver old_pthread_once, pthread_once@" EDGEWISE_OLDEST);
__asm__(".symver old_fxstat64, __fxstat64@" EDGEWISE_OLDEST);

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*f)(void*),
                          void* argument) {
  return old_pthread_create(thread, attributes, f, argument);
}

int __wrap_pthread_once(pthread_once_t* once, void (*f)()) { return old_pthread_once(once, f); }

int __wrap_fstat64(int file, struct stat64* status) {
  return old_fxstat64(kStatVersion, file, status);
}

// libstdc++ asks whether it may count references without atomic instructions: never.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
}
