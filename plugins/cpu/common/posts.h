// Operators fused behind a node, applied in place to a piece of its output while that is in cache.
#ifndef FOVEAL_CPU_COMMON_POSTS_H_
#define FOVEAL_CPU_COMMON_POSTS_H_

#include "common/operand.h"

namespace foveal::cpu {
inline namespace FV_ISA {

// May `post` be fused behind a float node? Any float unary or binary operator may, if its operand
// is constant or has exactly the output's shape.
bool fuses_pointwise(const Node& node, const Node& post, int chain_input);

// Lets the output overwrite input i, unless a fused operator still reads that.
void allow_in_place(const Node& node, Support& s, int i);

class Posts {
 public:
  // `out`: the node's output. `skip`: posts taken care of by the caller.
  static Result<Posts> make(const Node& node, const Value& out, int skip = 0);

  bool empty() const { return steps_.empty(); }
  // y: n elements of the output that begin at element `offset` in memory order. Ends by zeroing
  // the padding lanes in the piece, if the output has any (offset and n are then multiples of
  // kLanes).
  void apply(const Run& r, float* y, int64_t n, int64_t offset) const {
    if (!steps_.empty()) apply_steps(r, y, n, offset);
    if (pad_from_ && !steps_.empty()) zero_padding(y, n, offset);
  }
  // For kernels that write padding lanes themselves: zeroes them whether or not there are posts.
  void zero_padding(float* y, int64_t n, int64_t offset) const;
  bool has_padding() const { return pad_from_ != 0; }

 private:
  struct Step {
    Unary unary;  // fn NULL: binary
    BinaryFn vector = nullptr, pattern = nullptr;
    bool reversed = false;  // the running value is operand b
    Operand operand;
  };
  void apply_steps(const Run& r, float* y, int64_t n, int64_t offset) const;

  std::vector<Step> steps_;
  int pad_from_ = 0;   // first padding lane of the last channel block; 0: none
  int64_t plane_ = 0;  // elements of one channel block
  int64_t blocks_ = 0;
};

// The commonest tails of convolutions, done in registers: [+ residual] [relu or clip].
struct FusedTail {
  int posts = 0;  // how many are covered
  bool has_residual = false;
  Input residual;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  static FusedTail find(const Node& node, const Value& out);
};

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_POSTS_H_
