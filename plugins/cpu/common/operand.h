// An input of a pointwise operator, seen from the elements of the output.
//
// Both are taken in memory order, blocked or plain, so that a pointwise kernel is a walk over the
// output in contiguous pieces: `piece` says where the operand's matching elements lie and for how
// many elements that holds.
#ifndef FOVEAL_CPU_COMMON_OPERAND_H_
#define FOVEAL_CPU_COMMON_OPERAND_H_

#include "common/pointwise.h"

namespace foveal::cpu {
inline namespace FV_ISA {

class Operand {
 public:
  // `v` broadcasts to `out`, whose layout is decided. Constants are brought into that layout here.
  static Result<Operand> make(const Value& v, const Value& out);

  struct Piece {
    const float* p;
    bool pattern;  // p points to kLanes repeating floats
    int64_t n;     // elements for which this holds, >= 1
  };
  // From element `offset` of the output on. `splat` is scratch of kLanes floats.
  Piece piece(const float* base, int64_t offset, float* splat) const;
  const float* base(const Run& r) const { return owned_ ? owned_->data() : input_.ptr<float>(r); }
  // Element for element like the output: no broadcasting.
  bool same() const { return kind_ == kRow && period_ == total_; }
  bool runtime() const { return !owned_ && !input_.constant; }
  bool always_pattern() const { return kind_ == kPattern; }

 private:
  enum Kind {
    kRow,      // p[offset % period]
    kPattern,  // lanes (or one float) at p[(offset / inner) % count]
    kStrided   // anything else, decoded dimension by dimension
  };
  Kind kind_ = kRow;
  int64_t total_ = 0, period_ = 0, inner_ = 0, count_ = 0;
  bool lanes_ = false;
  Dims size_, stride_;
  Input input_;
  std::shared_ptr<Floats64> owned_;
};

// Dimensions as they lie in memory: NCxHWx has [N, blocks, spatial..., x].
Dims physical_dims(const Dims& logical, fv_layout layout);
// Elements in memory, padding lanes included.
int64_t physical_count(const Value& v);

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_OPERAND_H_
