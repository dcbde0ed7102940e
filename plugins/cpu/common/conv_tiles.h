// Convolution by register tiles: 1x1, k x k with any stride, dilation and padding, grouped and
// (phase by phase) transposed.
//
// Where taps would leave the image, or columns are strided, a band of input rows is first copied
// to scratch: zeros at the borders, columns sorted by their remainder modulo the stride, so that
// the tile kernel always sees neighbouring pixels at a constant distance and no borders:
//
//   scratch[channel block][row][column phase][column][lane]     (plain input: [channel][row]...)
//
// The copy costs C * pixels moves against C * pixels * taps * O / stride^2 multiply-adds.
// Narrow groups are merged until they fill whole channel blocks; the weights between the merged
// groups are zero.
#ifndef FOVEAL_CPU_COMMON_CONV_TILES_H_
#define FOVEAL_CPU_COMMON_CONV_TILES_H_

#include "common/posts.h"
#include "common/tile_table.h"

namespace foveal::cpu {
inline namespace FV_ISA {

struct ConvShape {
  int64_t batch = 1;
  int in_c = 0, in_h = 0, in_w = 0;
  int out_c = 0, out_h = 0, out_w = 0;
  int group = 1;
  int step_y = 1, step_x = 1;  // input pixels between neighbouring outputs of a phase
  bool plain_input = false;    // NCHW; every channel is a tap of its own
};

struct ConvTap {
  int dy, dx;  // input pixel = output pixel * step + d
  int index;   // of the weight within one kernel
};

// Outputs (y0 + i * step, x0 + j * step) for i < rows, j < cols, which share their taps. An
// ordinary convolution is one phase.
struct ConvPhase {
  int rows = 0, cols = 0;
  int y0 = 0, x0 = 0, step_y = 1, step_x = 1;
  std::vector<ConvTap> taps;
};

// Strides of the weight tensor, in elements.
struct ConvWeights {
  Value value;
  int64_t group = 0, out = 0, in = 0;  // between groups, and between channels within a group
};

// Why the engine declines these sizes, or NULL. Files may hold any numbers: within these limits
// the engine's 32-bit arithmetic holds.
template <class Op>
const char* conv_refusal(const Node& node, const Op& op) {
  constexpr int64_t kPixels = int64_t{1} << 26, kReach = int64_t{1} << 24;
  const ImageDims x(node.input(0)), y(node.output(0));
  const Value w = node.input(1);
  if (!is_float(node.input(0))) return "float32 only";
  if (x.c < 1 || y.c < 1) return "there are no channels";
  if (std::max(x.pixels(), y.pixels()) > kPixels) return "image over 64 megapixels";
  if (node.input(0).count() >= int64_t{1} << 30) return "input over 1 G elements";
  for (size_t i = 0; i < 2; ++i) {
    const int64_t extent = checked_mul(w.dim(2 + static_cast<int>(i)), op.dilation[i]);
    if (extent < 0 || std::max({extent, op.stride[i], op.pad[i], op.pad[i + 2]}) > kReach)
      return "stride, pad or kernel extent over 16 M";
  }
  return nullptr;
}

class ConvTiles {
 public:
  Status prepare(const Context& c, const Node& node, const ConvShape& shape,
                 std::vector<ConvPhase> phases, const ConvWeights& weights, const char* kind);
  void run(const Run& r);
  size_t workspace() const {
    return static_cast<size_t>(threads_ * scratch_floats_ + computed_floats_) * 4;
  }

 private:
  struct Phase : ConvPhase {
    const float* weights = nullptr;  // NULL: computed, packed at run time
    int64_t packed_at = 0;
    std::vector<int32_t> direct_taps, scratch_taps;
    std::vector<int> columns;  // column phases that some tap needs
    bool direct = false;       // taps stay inside the image and columns are not strided
    bool flat = false;         // rows follow one another without gaps: one long row
    int min_dy = 0, min_dx = 0, row_step = 1, row_span = 1, width = 0, band_rows = 1;
    int64_t bands = 1, splits = 1;
  };
  void plan(Phase& p) const;
  void pack_group(const Phase& p, const float* src, int g, float* dst) const;
  int64_t group_floats(const Phase& p) const;  // packed weights of a merged group
  float* computed(const Run& r) const {
    return reinterpret_cast<float*>(r.workspace) + threads_ * scratch_floats_;
  }
  const float* weights_of(const Run& r, const Phase& p) const {
    return p.weights ? p.weights : computed(r) + p.packed_at;
  }
  void fill_scratch(const Phase& p, const float* x, int c0, int channels, int row0, int rows,
                    float* dst) const;
  void task(const Run& r, const Phase& p, int64_t index, int worker) const;

  ConvShape s_;
  int groups_ = 1, merged_ = 1;       // merged groups, and how many real ones each holds
  int group_in_ = 0, group_out_ = 0;  // channels of a merged group
  int threads_ = 1;
  int64_t scratch_floats_ = 0, computed_floats_ = 0;
  ConvWeights w_;
  Input w_input_, bias_input_;
  bool bias_computed_ = false;
  std::vector<Phase> phases_;
  Floats64 bias_;
  FusedTail tail_;
  Posts posts_;
  bool posts_last_ = false;  // posts in a pass of their own: outputs of a phase are not contiguous
  Input x_;
  int y_ = -1;
};

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_CONV_TILES_H_
