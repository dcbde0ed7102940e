#include "base/thread_pool.h"

#include <algorithm>

#include "base/mutex.h"

#if FV_THREADS
#include <atomic>
#include <condition_variable>
#include <new>
#include <thread>

#include "base/guard.h"
#endif

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#define FV_PAUSE() _mm_pause()
#elif defined(__aarch64__)
#define FV_PAUSE() asm volatile("yield")
#else
#define FV_PAUSE() ((void)0)
#endif

namespace foveal {

#if FV_THREADS

namespace {

constexpr int kMaxWorkers = 63;
// How long an idle worker looks for work before it sleeps: longer than the gap between two
// operators of one run, much shorter than a frame.
constexpr int kSpins = 4000;
constexpr uint64_t kClosed = 1 << 8, kInside = kClosed - 1;

class Workers {
 public:
  // Never destroyed: threads outlive static destruction.
  static Workers& get() { return *instance().load(std::memory_order_acquire); }

  // As many as the system gives: with fewer, calls take longer.
  void reserve(int count) {
    std::lock_guard lock(start_mutex_);
    count = std::min(count, kMaxWorkers);
    while (static_cast<int>(started_.load()) < count) {
      const int id = started_.load() + 1;
      const bool started = guard_or(false, [&] {
        std::thread([this, id] { loop(id); }).detach();
        return true;
      });
      if (!started) return;
      started_.store(id);
    }
  }

  void run(int helpers, int64_t tasks, fv_task task, void* ctx) {
    if (started_.load() < helpers) reserve(helpers);  // after a fork
    if (!busy_.try_lock()) {
      for (int64_t i = 0; i < tasks; ++i) task(ctx, i, 0);
      return;
    }
    helpers = std::min(helpers, started_.load());
    task_ = task;
    ctx_ = ctx;
    tasks_ = tasks;
    next_.store(0, std::memory_order_relaxed);
    const uint64_t number = (call_.load(std::memory_order_relaxed) >> 8) + 1;
    door_.store(number << 9, std::memory_order_release);
    // One word tells workers that there is a new call and who may take part in it.
    call_.store(number << 8 | static_cast<uint64_t>(helpers));
    // Sleepers are counted before they look at call_ for the last time, so none is missed.
    if (sleeping_.load() > 0) {
      {
        std::lock_guard lock(mutex_);
      }
      wake_.notify_all();
    }
    drain(0);
    // Nothing is left to take. Who has not come yet is locked out: on a busy machine it may take
    // the system long to run a worker. Who is inside works on its last task, with ctx.
    door_.fetch_or(kClosed, std::memory_order_acq_rel);
    for (int spins = 0; door_.load(std::memory_order_acquire) & kInside;) {
      if (++spins < 1 << 14)
        FV_PAUSE();
      else
        std::this_thread::yield();
    }
    busy_.unlock();
  }

 private:
  static std::atomic<Workers*>& instance() {
    // Not on the heap, which may be full, or locked by a thread that a fork left behind.
    alignas(Workers) static char place[sizeof(Workers)];
    static std::atomic<Workers*> current{[] {
#if defined(__unix__) || defined(__APPLE__)
      // A forked child has this memory but none of the threads: it starts anew.
      pthread_atfork(nullptr, nullptr, [] { instance().store(new (place) Workers); });
#endif
      return new (place) Workers;
    }()};
    return current;
  }

  void drain(int worker) {
    for (;;) {
      const int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= tasks_) return;
      task_(ctx_, i, worker);
    }
  }

  // False when the call is over.
  bool enter(uint64_t number) {
    uint64_t door = door_.load(std::memory_order_relaxed);
    do {
      if (door >> 8 != number << 1) return false;
    } while (!door_.compare_exchange_weak(door, door + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    return true;
  }

  void loop(int id) {
    uint64_t seen = 0;
    for (;;) {
      for (int spins = 0; call_.load(std::memory_order_acquire) == seen; ++spins) {
        if (spins < kSpins) {
          FV_PAUSE();
          continue;
        }
        std::unique_lock lock(mutex_);
        sleeping_.fetch_add(1);
        wake_.wait(lock, [&] { return call_.load() != seen; });
        sleeping_.fetch_sub(1);
      }
      seen = call_.load(std::memory_order_acquire);
      if (id <= static_cast<int>(seen & 0xff) && enter(seen >> 8)) {
        drain(id);
        door_.fetch_sub(1, std::memory_order_release);
      }
    }
  }

  std::mutex start_mutex_, busy_, mutex_;
  std::condition_variable wake_;
  std::atomic<int> started_{0}, sleeping_{0};
  std::atomic<uint64_t> call_{0};  // number of the call << 8 | helpers that may take part
  // number of the call << 9 | closed << 8 | helpers inside
  std::atomic<uint64_t> door_{kClosed};
  std::atomic<int64_t> next_{0};
  fv_task task_ = nullptr;
  void* ctx_ = nullptr;
  int64_t tasks_ = 0;
};

}  // namespace

int32_t default_threads() {
  return std::clamp(static_cast<int32_t>(std::thread::hardware_concurrency()), 1, 4);
}

void reserve_workers(int32_t threads) { Workers::get().reserve(threads - 1); }

static void share_out(int64_t threads, int64_t tasks, fv_task task, void* ctx) {
  Workers::get().run(static_cast<int>(threads - 1), tasks, task, ctx);
}

#else  // every pool is one of one

int32_t default_threads() { return 1; }
void reserve_workers(int32_t) {}
static void share_out(int64_t, int64_t tasks, fv_task task, void* ctx) {
  for (int64_t i = 0; i < tasks; ++i) task(ctx, i, 0);
}

#endif

void parallel_for(const fv_pool* pool, int64_t tasks, fv_task task, void* ctx) {
  const int64_t threads = pool ? std::min<int64_t>(pool->threads, tasks) : 1;
  if (threads <= 1) {
    for (int64_t i = 0; i < tasks; ++i) task(ctx, i, 0);
    return;
  }
  share_out(threads, tasks, task, ctx);
}

}  // namespace foveal
