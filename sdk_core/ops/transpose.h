#ifndef FOVEAL_OPS_TRANSPOSE_H_
#define FOVEAL_OPS_TRANSPOSE_H_

#include "ops/raster.h"

namespace foveal::ops {

struct Transpose {
  static constexpr OpInfo kInfo{"transpose", 1, "x", "y", "Reorders dimensions.", kMovement};
  Ints perm;

  template <class V>
  void fields(V& v) {
    v("perm", perm, "result dimension i is input dimension perm[i]; empty: reversed");
  }

  Result<Ints> resolved(int rank) const {
    if (perm.empty()) {
      Ints reversed;
      for (int i = rank; i-- > 0;) reversed.push_back(i);
      return reversed;
    }
    if (static_cast<int>(perm.size()) != rank)
      return shape_error(format("perm has %zu entries, the input has rank %d", perm.size(), rank));
    return resolve_axes(perm, rank);
  }

  Status infer(InferContext& c) const {
    FV_ASSIGN(const Ints p, resolved(c.in(0).rank()));
    Dims out;
    for (int64_t axis : p) out.push_back(c.in(0).dims[static_cast<size_t>(axis)]);
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }

  Status decompose(Decomposer& d) const {
    const TensorType x = d.type(d.in(0));
    FV_ASSIGN(const Ints p, resolved(x.rank()));
    const Ints stride = row_major(x.dims);
    Region r;
    for (int64_t axis : p) {
      r.size.push_back(x.dims[static_cast<size_t>(axis)]);
      r.src_stride.push_back(stride[static_cast<size_t>(axis)]);
    }
    r.dst_stride = row_major(r.size);
    RasterBuilder b(d, r.size);
    b.add(r);
    d.out(0, b.build({d.in(0)}));
    return ok();
  }
};

inline void define_transpose(OpTable& t) { t.add<Transpose>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_TRANSPOSE_H_
