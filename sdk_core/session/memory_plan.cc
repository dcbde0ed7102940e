#include "session/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "foveal/types.h"

namespace foveal {

uint64_t plan_memory(std::vector<Lifetime>& lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  uint64_t arena = 0;
  std::vector<size_t> placed;  // ascending offset
  for (const size_t i : order) {
    Lifetime& life = lifetimes[i];
    if (life.bytes > UINT64_MAX / 4) return UINT64_MAX;
    const uint64_t size = (life.bytes + FV_ALIGNMENT - 1) / FV_ALIGNMENT * FV_ALIGNMENT;
    uint64_t offset = 0;
    for (const size_t j : placed) {
      const Lifetime& other = lifetimes[j];
      if (other.last < life.first || other.first > life.last) continue;
      if (offset + size <= other.offset) break;
      offset = std::max(
          offset, (other.offset + other.bytes + FV_ALIGNMENT - 1) / FV_ALIGNMENT * FV_ALIGNMENT);
    }
    life.offset = offset;
    arena = std::max(arena, offset + size);
    if (arena > UINT64_MAX / 4) return UINT64_MAX;
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) {
                                     return lifetimes[a].offset < lifetimes[b].offset;
                                   }),
                  i);
  }
  return arena;
}

}  // namespace foveal
