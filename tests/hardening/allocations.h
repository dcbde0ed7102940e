// Counts the allocations of the process and makes one of them fail: include in one source file of
// a program. With a sanitizer, whose malloc must stay, only what goes through operator new is
// counted and failed; leaks are then its own matter.
#ifndef FOVEAL_TESTS_HARDENING_ALLOCATIONS_H_
#define FOVEAL_TESTS_HARDENING_ALLOCATIONS_H_

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "core/sanitizer.h"

namespace foveal::test {

// Of the thread that asks: workers of the pool do not allocate once they run.
inline thread_local bool watching = false;
inline std::atomic<long> allocated{0};  // since start, watching or not
inline std::atomic<long> freed{0};
inline long seen = 0;     // allocations while watching
inline long fail_at = 0;  // the one that fails, counted from 1; 0 = none

inline bool deny() { return watching && ++seen == fail_at; }

struct Watch {
  explicit Watch(long fail = 0) {
    seen = 0;
    fail_at = fail;
    watching = true;
  }
  ~Watch() { watching = false; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};

}  // namespace foveal::test

#if defined(FV_SANITIZER)

void* operator new(size_t n) {
  void* p = foveal::test::deny() ? nullptr : std::malloc(n ? n : 1);
  if (!p) throw std::bad_alloc();
  return p;
}
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  return foveal::test::deny() ? nullptr : std::malloc(n ? n : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

#elif defined(__GLIBC__)
#define FV_COUNTS_BLOCKS 1  // every block, of plugins and the C library too

// Plugins and libraries shall find these.
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static void* fv_counted(void* p) {
  if (p)
    foveal::test::allocated.fetch_add(1, std::memory_order_relaxed);
  else
    errno = ENOMEM;
  return p;
}
void* malloc(size_t n) { return fv_counted(foveal::test::deny() ? nullptr : __libc_malloc(n)); }
void* calloc(size_t n, size_t size) {
  return fv_counted(foveal::test::deny() ? nullptr : __libc_calloc(n, size));
}
void* realloc(void* p, size_t n) {
  if (foveal::test::deny()) {
    errno = ENOMEM;
    return nullptr;
  }
  void* q = __libc_realloc(p, n);
  if (q && !p) foveal::test::allocated.fetch_add(1, std::memory_order_relaxed);
  return q;
}
void* aligned_alloc(size_t alignment, size_t n) {
  return fv_counted(foveal::test::deny() ? nullptr : __libc_memalign(alignment, n));
}
int posix_memalign(void** out, size_t alignment, size_t n) {
  void* p = fv_counted(foveal::test::deny() ? nullptr : __libc_memalign(alignment, n));
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}
void free(void* p) {
  if (p) foveal::test::freed.fetch_add(1, std::memory_order_relaxed);
  __libc_free(p);
}
}
#pragma GCC visibility pop

#else
#define FV_COUNTS_NOTHING 1
#endif

#endif  // FOVEAL_TESTS_HARDENING_ALLOCATIONS_H_
