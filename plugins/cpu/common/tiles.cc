#include "common/tile_table.h"

namespace foveal::cpu {
inline namespace FV_ISA {

TileFn blocked_tile(int vectors, int pixels) { return tile_for<kLanes, 1>(vectors, pixels); }
TileFn packed_tile(int vectors, int pixels) { return tile_for<1, -1>(vectors, pixels); }

}  // namespace FV_ISA
}  // namespace foveal::cpu
