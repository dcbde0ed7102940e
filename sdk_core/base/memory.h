// Aligned memory that can fail: the only way the core gets tensor memory.
#ifndef FOVEAL_BASE_MEMORY_H_
#define FOVEAL_BASE_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "foveal/types.h"

namespace foveal {

// FV_ALIGNMENT-aligned, size rounded up so that vector code may touch whole cache lines.
// NULL when out of memory; never NULL for zero bytes. Freed with aligned_free.
inline void* aligned_new(size_t bytes) {
  if (bytes > SIZE_MAX - 2 * FV_ALIGNMENT) return nullptr;
  const size_t rounded = (bytes + FV_ALIGNMENT) / FV_ALIGNMENT * FV_ALIGNMENT;
#if defined(_WIN32)
  return _aligned_malloc(rounded, FV_ALIGNMENT);
#else
  void* p = nullptr;
  return posix_memalign(&p, FV_ALIGNMENT, rounded) == 0 ? p : nullptr;
#endif
}
inline void aligned_free(void* p) {
#if defined(_WIN32)
  _aligned_free(p);
#else
  std::free(p);
#endif
}

struct AlignedFree {
  void operator()(void* p) const { aligned_free(p); }
};
using AlignedBuffer = std::unique_ptr<void, AlignedFree>;

}  // namespace foveal
#endif  // FOVEAL_BASE_MEMORY_H_
