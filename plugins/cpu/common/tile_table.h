// Which register tiles exist, and how many pixels each may have.
#ifndef FOVEAL_CPU_COMMON_TILE_TABLE_H_
#define FOVEAL_CPU_COMMON_TILE_TABLE_H_

#include <utility>

#include "common/tile.h"

namespace foveal::cpu {
inline namespace FV_ISA {

// Largest P for OB = 1, 2, 4: accumulators, OB weights and one broadcast fit the registers. NEON
// multiplies by a lane: compilers keep four steps of several pixels in registers instead.
// OB = 4 pays for few pixels only, where two vectors of channels leave the multipliers idle.
inline constexpr bool kByLane = kRegisters == 32 && kLanes == 4;
inline constexpr int kMaxPixels1 = kRegisters == 32 ? 14 : 12;
inline constexpr int kMaxPixels2 = kByLane ? 10 : kRegisters == 32 ? 14 : 6;
inline constexpr int kMaxPixels4 = kByLane ? 3 : kRegisters == 32 ? 4 : kLanes == 8 ? 3 : 2;
inline constexpr int max_pixels(int vectors) {
  return vectors == 1 ? kMaxPixels1 : vectors == 2 ? kMaxPixels2 : kMaxPixels4;
}

template <int OB, int PS, int JS, int... P>
inline TileFn tile_for_(int pixels, std::integer_sequence<int, P...>) {
  static constexpr TileFn table[] = {tile < P + 1, OB, PS, JS < 0 ? P + 1 : JS > ...};
  return table[pixels - 1];
}
// JS < 0: lanes lie P floats apart (operands packed pixel-innermost).
template <int PS, int JS>
inline TileFn tile_for(int vectors, int pixels) {
  if (vectors == 1)
    return tile_for_<1, PS, JS>(pixels, std::make_integer_sequence<int, kMaxPixels1>());
  if (vectors == 2)
    return tile_for_<2, PS, JS>(pixels, std::make_integer_sequence<int, kMaxPixels2>());
  return tile_for_<4, PS, JS>(pixels, std::make_integer_sequence<int, kMaxPixels4>());
}
// Instantiated in tiles.cc, so that the tiles exist once.
TileFn blocked_tile(int vectors, int pixels);  // x in NCxHWx: PS = kLanes, JS = 1
TileFn packed_tile(int vectors, int pixels);   // x packed pixel-innermost: PS = 1, JS = P

// Weight bytes that stay in L1 while tiles walk over the pixels.
inline constexpr int kWeightChunkBytes = kLanes == 16 ? 36 << 10 : 20 << 10;

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_TILE_TABLE_H_
