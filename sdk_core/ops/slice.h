#ifndef FOVEAL_OPS_SLICE_H_
#define FOVEAL_OPS_SLICE_H_

#include "ops/raster.h"

namespace foveal::ops {

struct Slice {
  static constexpr OpInfo kInfo{"slice", 1, "x", "y", "A strided box of the input.", kMovement};
  Ints axes, begin, end, step;

  template <class V>
  void fields(V& v) {
    v("axes", axes, "axes to cut; the others stay whole");
    v("begin", begin, "first index per axis; negative counts from the end");
    v("end", end, "index behind the last per axis; clamped to the input");
    v("step", step, "distance of the indices per axis; negative walks backwards");
  }

  // What one axis of length n selects: indices start + i * step, 0 <= i < count.
  struct Range {
    int64_t start, step, count;
  };
  Range range(size_t i, int64_t n) const {
    const int64_t s = step[i];
    auto clamp = [&](int64_t v) {
      if (v < 0) v = v < -n ? -1 : v + n;  // -1: before the first element
      return s > 0 ? std::min(std::max<int64_t>(v, 0), n)
                   : std::min(std::max<int64_t>(v, -1), n - 1);
    };
    const int64_t a = clamp(begin[i]), b = clamp(end[i]);
    const int64_t span = s > 0 ? b - a : a - b, pace = s > 0 ? s : -s;
    return {a, s, span <= 0 ? 0 : (span - 1) / pace + 1};
  }

  Status check(int rank, Ints& resolved) const {
    if (begin.size() != axes.size() || end.size() != axes.size() || step.size() != axes.size())
      return shape_error(
          format("axes, begin, end and step have %zu, %zu, %zu and %zu entries, "
                 "expected one length",
                 axes.size(), begin.size(), end.size(), step.size()));
    for (int64_t s : step)
      if (s == 0 || s == INT64_MIN) return shape_error("step is 0");
    FV_ASSIGN(resolved, resolve_axes(axes, rank));
    return ok();
  }

  Status infer(InferContext& c) const {
    Dims out = c.in(0).dims;
    Ints list;
    FV_TRY(check(c.in(0).rank(), list));
    for (size_t i = 0; i < list.size(); ++i) {
      int64_t& n = out[static_cast<size_t>(list[i])];
      if (n != kUnknown) n = range(i, n).count;
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }

  Status decompose(Decomposer& d) const {
    const Dims in = d.type(d.in(0)).dims;
    Ints list;
    FV_TRY(check(static_cast<int>(in.size()), list));
    Region r{0, 0, 0, in, row_major(in), {}};
    for (size_t i = 0; i < list.size(); ++i) {
      const auto a = static_cast<size_t>(list[i]);
      const Range cut = range(i, in[a]);
      r.size[a] = cut.count;
      if (cut.count == 0) continue;
      r.src_offset += cut.start * r.src_stride[a];
      r.src_stride[a] = cut.count == 1 ? 0 : r.src_stride[a] * cut.step;
    }
    r.dst_stride = row_major(r.size);
    RasterBuilder b(d, r.size);
    b.add(r);
    d.out(0, b.build({d.in(0)}));
    return ok();
  }
};

inline void define_slice(OpTable& t) { t.add<Slice>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_SLICE_H_
