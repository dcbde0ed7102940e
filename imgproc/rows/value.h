// Stored numbers, for the files that are compiled once per instruction set.
#ifndef FOVEAL_IMGPROC_ROWS_VALUE_H_
#define FOVEAL_IMGPROC_ROWS_VALUE_H_

#include <cstdint>

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

// A stored number as a float. Of floats: 0..1, and 0 for what is not a number.
inline float value(uint8_t v) { return v; }
inline float value(uint16_t v) { return v; }
inline float value(float v) { return v > 0 ? (v < 1 ? v : 1.0f) : 0.0f; }

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_VALUE_H_
