// Roofline of the register tiles: GFLOP/s with all operands in L1, one thread. Build and run:
//   g++ -O3 -std=c++20 -ffp-contract=fast -fno-math-errno -march=native
//       -mprefer-vector-width=512 -Isdk_core -Isdk_core/include -Iplugins/cpu
//       tests/cpu/tile_bench.cc plugins/cpu/common/tiles.cc -o tile_bench && ./tile_bench
#include <chrono>
#include <cstdio>
#include <vector>

#include "common/cpu.h"
#include "common/tile_table.h"

using namespace foveal::cpu;

namespace {

double seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Best of five rounds: others may use the machine.
double gflops(int vectors, int pixels) {
  constexpr int kSteps = 128, kCalls = 20000;
  Floats64 x(static_cast<size_t>(kSteps / kLanes * pixels * kLanes)), w(kSteps * 4 * kLanes),
      y(static_cast<size_t>(pixels * 4 * kLanes)), bias(4 * kLanes);
  const int32_t tap = 0;
  TileArgs t{};
  t.x = x.data(), t.block_pitch = pixels * kLanes, t.taps = &tap, t.tap_count = 1;
  t.blocks = kSteps / kLanes, t.lanes = t.last_lanes = kLanes;
  t.w = w.data(), t.w_pair = kSteps * 2 * kLanes;
  t.y = y.data(), t.y_block = pixels * kLanes, t.y_pixel = kLanes;
  t.bias = bias.data(), t.low = -1e30f, t.high = 1e30f, t.last = true;
  const TileFn tile = blocked_tile(vectors, pixels);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const double start = seconds();
    for (int i = 0; i < kCalls; ++i) tile(t);
    best = std::max(best,
                    2.0 * pixels * vectors * kLanes * kSteps * kCalls / (seconds() - start) / 1e9);
  }
  return best;
}

}  // namespace

int main() {
  for (int vectors : {1, 2, 4})
    for (int pixels = 1; pixels <= max_pixels(vectors); ++pixels)
      std::printf("%s %2d x %2d: %6.1f GFLOP/s\n", FV_ISA_NAME, pixels, vectors * kLanes,
                  gflops(vectors, pixels));
}
