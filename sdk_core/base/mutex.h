// A mutex where there are threads, nothing where the platform has none (WebAssembly without
// -pthread, whose standard library leaves std::mutex out).
#ifndef FOVEAL_BASE_MUTEX_H_
#define FOVEAL_BASE_MUTEX_H_

#if defined(__wasm__) && !defined(_REENTRANT)
#define FV_THREADS 0
#else
#define FV_THREADS 1
#include <mutex>
#endif

namespace foveal {

#if FV_THREADS
using Mutex = std::mutex;
using Lock = std::lock_guard<std::mutex>;
#else
struct Mutex {};
struct [[nodiscard]] Lock {
  explicit Lock(Mutex&) {}
  ~Lock() {}  // a variable that is there for its scope alone is not unused
};
#endif

}  // namespace foveal
#endif  // FOVEAL_BASE_MUTEX_H_
