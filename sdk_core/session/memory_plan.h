// Where in one arena each buffer lies, given when it is alive.
#ifndef FOVEAL_SESSION_MEMORY_PLAN_H_
#define FOVEAL_SESSION_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

namespace foveal {

struct Lifetime {
  uint64_t bytes = 0;
  int first = 0, last = 0;  // positions, both inclusive
  uint64_t offset = 0;      // answer, FV_ALIGNMENT-aligned
};

// Greedy by size (Pisarchyk & Lee, "Efficient Memory Management for Deep Neural Net Inference",
// 2020): largest first, each at the lowest offset free during its whole life.
// Returns the size of the arena; UINT64_MAX if it overflows.
uint64_t plan_memory(std::vector<Lifetime>& lifetimes);

}  // namespace foveal
#endif  // FOVEAL_SESSION_MEMORY_PLAN_H_
