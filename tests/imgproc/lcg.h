// Numbers for the row tests: the same on every machine and in every run.
#ifndef FOVEAL_TESTS_IMGPROC_LCG_H_
#define FOVEAL_TESTS_IMGPROC_LCG_H_

#include <cstdint>

inline uint32_t state = 1;
inline uint32_t next() { return state = state * 1664525u + 1013904223u; }
inline int below(int n) { return static_cast<int>((next() >> 8) % static_cast<uint32_t>(n)); }

#endif  // FOVEAL_TESTS_IMGPROC_LCG_H_
