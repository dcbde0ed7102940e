// Levels to whole numbers, for the files that are compiled once per instruction set.
#ifndef FOVEAL_IMGPROC_ROWS_ROUND_H_
#define FOVEAL_IMGPROC_ROWS_ROUND_H_

#include <cstdint>

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

// |v| < 2^22: adding 1.5 * 2^23 leaves whole numbers, rounded half to even.
inline float round_even(float v) {
  constexpr float kMagic = 12582912.0f;
  return (v + kMagic) - kMagic;
}
inline float clamp255(float v) {
  v = v < 0 ? 0 : v;
  return v > 255 ? 255 : v;
}

inline int32_t byte_of(float v) { return static_cast<int32_t>(round_even(clamp255(v))); }

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_ROUND_H_
