// Copies of boxes between NCxHWx tensors, channels included: what concat, split, slice and pad
// are made of. Channel offsets need not be multiples of the block; lanes are shifted then.
#ifndef FOVEAL_CPU_COMMON_BLOCK_COPY_H_
#define FOVEAL_CPU_COMMON_BLOCK_COPY_H_

#include "base/simd.h"
#include "common/cpu.h"

namespace foveal::cpu {
inline namespace FV_ISA {

using namespace simd;

// Channels [src_c, src_c + channels) and a window of height x width pixels.
struct Box {
  int source = 0;  // index of the input
  int64_t channels = 0, height = 0, width = 0;
  int64_t src_c = 0, src_y = 0, src_x = 0;
  int64_t dst_c = 0, dst_y = 0, dst_x = 0;
};

class BlockCopy {
 public:
  // Boxes do not overlap in the output; together they need not cover it, see `clear`.
  void add(const Box& box, const ImageDims& src, const ImageDims& dst);
  // Zeroes the output first: for boxes that leave something uncovered.
  bool clear = false;
  int64_t images = 1;
  int threads = 1;
  void run(const Run& r, const float* const* sources, float* dst) const;

 private:
  // Lanes [first, last) of one output block, from one block of one source.
  struct Piece {
    int source;
    int shift;  // output lane - source lane
    int first, last;
    int64_t src, src_image, src_row;  // floats: start, distance of images and rows
    int64_t dst_in_block, dst_row;
    int64_t rows, pixels;
  };
  struct Block {
    std::vector<Piece> pieces;
  };
  static void copy(const Piece& p, const float* src, float* dst, bool first);
  std::vector<Block> blocks_;  // of the output, in order
  int64_t plane_ = 0;          // floats of one output block
};

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_BLOCK_COPY_H_
