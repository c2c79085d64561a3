#include "threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <fstream>
#include <list>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif
#ifndef _WIN32
#include <pthread.h>
#endif

namespace edgewise {
namespace {

struct Job {
  const std::function<void(std::size_t, int)>& body;
  std::size_t n_tasks;
  int max_helpers;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr error{};
  int helpers = 0;             // joined so far, guarded by the pool's mutex
  std::atomic<int> active{0};  // helping now; changed under the pool's mutex

  bool wants_help() const {
    return helpers < max_helpers && next.load(std::memory_order_relaxed) < n_tasks;
  }
};

void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

constexpr int kSpins = 2000;  // some tens of microseconds

class Pool {
 public:
  void run(Job& job, const Team& team) {
    if (job.max_helpers > 0 && job.n_tasks > 1) post(job);
    work(job, 0, &team);
    retire(job);
    if (job.error) std::rethrow_exception(job.error);
  }

  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      quit_ = true;
      posted_.fetch_add(1);
    }
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

 private:
  void post(Job& job) {
    std::lock_guard lock(mutex_);
    hire(job.max_helpers);
    jobs_.push_back(&job);
    posted_.fetch_add(1, std::memory_order_release);
    if (sleeping_ > 0) wake_.notify_all();
  }

  // Starts workers up to `wanted`. Where the system gives no more threads, jobs go on with those
  // there are; it is asked again after a while, since asking costs more than a small job.
  void hire(int wanted) {
    if (static_cast<int>(workers_.size()) >= wanted || workers_.size() >= 512) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < hire_again_) return;
    try {
      while (static_cast<int>(workers_.size()) < wanted && workers_.size() < 512)
        workers_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      hire_again_ = now + std::chrono::seconds(1);
    }
  }

  // No thread joins a job that is off the list; helping threads finish their current task.
  void retire(Job& job) {
    if (job.max_helpers == 0 || job.n_tasks <= 1) return;
    {
      std::lock_guard lock(mutex_);
      jobs_.remove(&job);
    }
    for (int i = 0; i < kSpins && job.active.load(std::memory_order_acquire) > 0; ++i) pause_cpu();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return job.active == 0; });
  }

  // Only the calling thread (team != nullptr) asks for interrupts: Python's signal handlers run
  // in the main thread.
  void work(Job& job, int slot, const Team* team) {
    try {
      while (!job.stop.load(std::memory_order_relaxed)) {
        const std::size_t task = job.next.fetch_add(1, std::memory_order_relaxed);
        if (task >= job.n_tasks) return;
        if (team) team->poll();
        job.body(task, slot);
      }
    } catch (...) {
      std::lock_guard lock(mutex_);
      job.stop = true;
      if (!job.error) job.error = std::current_exception();
    }
  }

  Job* find_job() {
    for (Job* job : jobs_)
      if (job->wants_help()) return job;
    return nullptr;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (!quit_) {
      if (Job* job = find_job()) {
        const int slot = ++job->helpers;
        ++job->active;
        lock.unlock();
        work(*job, slot, nullptr);
        lock.lock();
        if (--job->active == 0) done_.notify_all();
        continue;
      }
      const auto seen = posted_.load(std::memory_order_acquire);
      lock.unlock();
      const bool posted = spin(seen);
      lock.lock();
      if (posted || quit_) continue;
      ++sleeping_;
      wake_.wait(lock, [&] { return quit_ || posted_.load() != seen; });
      --sleeping_;
    }
  }

  // Waits a few microseconds before sleeping: jobs of one tree follow each other closely.
  bool spin(std::size_t seen) const {
    for (int i = 0; i < kSpins; ++i) {
      if (posted_.load(std::memory_order_acquire) != seen) return true;
      pause_cpu();
    }
    return false;
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::list<Job*> jobs_;
  std::vector<std::thread> workers_;
  std::chrono::steady_clock::time_point hire_again_{};  // not before then
  std::atomic<std::size_t> posted_{0};
  int sleeping_ = 0;
  bool quit_ = false;
};

std::atomic<Pool*> g_pool{nullptr};
std::mutex g_pool_mutex;

#ifndef _WIN32
// The child of a fork has no workers: it forgets the parent's pool (and leaks it, since its mutex
// may be held by a thread that does not exist here) and starts its own when it needs one.
void forget_pool() {
  g_pool.store(nullptr);
  new (&g_pool_mutex) std::mutex;
}
#endif

Pool& pool() {
  if (Pool* existing = g_pool.load()) return *existing;
#ifndef _WIN32
  static const int registered = pthread_atfork(nullptr, nullptr, forget_pool);
  (void)registered;
#endif
  std::lock_guard lock(g_pool_mutex);
  if (!g_pool.load()) g_pool.store(new Pool);  // never destroyed: workers sleep until exit
  return *g_pool.load();
}

double cgroup_quota() {
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2) {
    std::string quota;
    double period = 0;
    if (v2 >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
  }
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0)
    return quota / period;
  return 0.0;
}

}  // namespace

int available_cpus() {
  int cpus = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) cpus = CPU_COUNT(&set);
#endif
  const double quota = cgroup_quota();
  if (quota > 0) cpus = std::min(cpus, std::max(1, static_cast<int>(quota + 0.5)));
  return std::max(1, cpus);
}

void Team::each(std::size_t n_tasks, const std::function<void(std::size_t, int)>& body) const {
  if (n_threads_ == 1 || n_tasks <= 1) {
    for (std::size_t task = 0; task < n_tasks; ++task) {
      poll();
      body(task, 0);
    }
    return;
  }
  const auto helpers = std::min<std::size_t>(n_tasks, static_cast<std::size_t>(n_threads_)) - 1;
  Job job{.body = body, .n_tasks = n_tasks, .max_helpers = static_cast<int>(helpers)};
  pool().run(job, *this);
}

void Team::range(std::size_t n, std::size_t grain,
                 const std::function<void(std::size_t, std::size_t, int)>& body) const {
  if (n == 0) return;
  const std::size_t pieces = static_cast<std::size_t>(n_threads_) * 4;
  const std::size_t size = std::max(grain, (n + pieces - 1) / pieces);
  each((n + size - 1) / size, [&](std::size_t task, int slot) {
    body(task * size, std::min(n, (task + 1) * size), slot);
  });
}

void Team::poll() const {
  if (stopped_->load(std::memory_order_relaxed)) throw Interrupted();
  if (!interrupted_) return;
  thread_local auto last = std::chrono::steady_clock::now();
  const auto now = std::chrono::steady_clock::now();
  if (now - last < std::chrono::milliseconds(50)) return;
  last = now;
  if (!interrupted_()) return;
  stopped_->store(true);
  throw Interrupted();
}

}  // namespace edgewise
