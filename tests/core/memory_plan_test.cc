// plan_memory against the definition: buffers alive at the same time never overlap.
#include "session/memory_plan.h"

#include <cstdlib>

#include "check.h"
#include "foveal/types.h"

using namespace foveal;

static bool overlap(const Lifetime& a, const Lifetime& b) {
  const bool together = a.first <= b.last && b.first <= a.last;
  return together && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

static uint64_t largest_moment(const std::vector<Lifetime>& lives) {
  uint64_t best = 0;
  for (const Lifetime& at : lives) {
    uint64_t sum = 0;
    for (const Lifetime& l : lives)
      if (l.first <= at.first && at.first <= l.last) sum += l.bytes;
    best = std::max(best, sum);
  }
  return best;
}

int main() {
  unsigned seed = 1;
  const auto random = [&](unsigned n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> lives(random(60));
    for (Lifetime& l : lives) {
      l.bytes = random(5) ? random(100000) : 0;
      l.first = static_cast<int>(random(40));
      l.last = l.first + static_cast<int>(random(10));
    }
    const uint64_t arena = plan_memory(lives);
    for (size_t i = 0; i < lives.size(); ++i) {
      CHECK(lives[i].offset % FV_ALIGNMENT == 0);
      CHECK(lives[i].offset + lives[i].bytes <= arena);
      for (size_t j = 0; j < i; ++j) CHECK(!overlap(lives[i], lives[j]));
    }
    CHECK(arena >= largest_moment(lives));
  }
  // A chain needs the two largest neighbours only.
  std::vector<Lifetime> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({6400, i, i + 1, 0});
  CHECK_EQ(plan_memory(chain), uint64_t{12800});
  std::vector<Lifetime> huge{{UINT64_MAX / 2, 0, 1, 0}, {UINT64_MAX / 2, 0, 1, 0}};
  CHECK_EQ(plan_memory(huge), UINT64_MAX);
  return CHECK_RESULT();
}
