#ifndef FOVEAL_OPS_PAD_H_
#define FOVEAL_OPS_PAD_H_

#include "ops/raster.h"

namespace foveal::ops {

struct Pad {
  static constexpr OpInfo kInfo{
      "pad",    1, "x", "y", "Adds elements around the input; negative counts remove them.",
      kMovement};
  Ints pads;
  double value = 0;
  std::string mode = "constant";

  template <class V>
  void fields(V& v) {
    v("pads", pads, "elements added before each dimension, then behind each");
    v("value", value, "what to add in constant mode");
    v("mode", mode, "constant | edge | reflect (without repeating the edge)");
  }

  Status infer(InferContext& c) const {
    Dims out = c.in(0).dims;
    const size_t rank = out.size();
    FV_TRY(expect_one_of("mode", mode, {"constant", "edge", "reflect"}));
    FV_TRY(expect_ints("pads", pads, 2 * rank, -kMaxExtent));
    for (size_t i = 0; i < rank; ++i) {
      if (out[i] == kUnknown) continue;
      const int64_t before = pads[i], behind = pads[rank + i], n = out[i];
      out[i] = n + before + behind;
      const int64_t most = std::max(before, behind);
      if (out[i] < 0 || -before > n || -behind > n)
        return shape_error(format("pads %lld and %lld remove more than dimension %zu of ",
                                  static_cast<long long>(before), static_cast<long long>(behind),
                                  i) +
                           to_string(c.in(0).dims) + " has");
      if (mode == "edge" && most > 0 && kept(i, n).second < 1)
        return shape_error(format("dimension %zu has no edge to repeat", i));
      if (mode == "reflect" && most > 0 && most > kept(i, n).second - 1)
        return shape_error(format("reflection by %lld does not fit into dimension %zu of ",
                                  static_cast<long long>(most), i) +
                           to_string(c.in(0).dims));
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }

  Status decompose(Decomposer& d) const {
    const Dims in = d.type(d.in(0)).dims;
    const size_t rank = in.size();
    Dims shape(rank);
    for (size_t i = 0; i < rank; ++i) shape[i] = in[i] + pads[i] + pads[rank + i];
    const Ints src = row_major(in), dst = row_major(shape);
    // Each axis is at most three runs (before, inside, behind); their product tiles the output.
    std::vector<Region> list{{}};
    for (size_t i = 0; i < rank; ++i) {
      std::vector<Region> next;
      for (const Run& run : runs(i, in[i])) {
        if (run.count == 0) continue;
        for (Region r : list) {
          r.src_offset += run.from * src[i];
          r.dst_offset += run.to * dst[i];
          r.size.push_back(run.count);
          r.src_stride.push_back(run.step * src[i]);
          r.dst_stride.push_back(dst[i]);
          next.push_back(std::move(r));
        }
      }
      list = std::move(next);
    }
    RasterBuilder b(d, shape);
    for (Region& r : list) b.add(std::move(r));
    d.out(0, b.build({d.in(0)}, mode == "constant" ? value : 0));
    return ok();
  }

 private:
  // First element of dimension i that stays, and how many do.
  std::pair<int64_t, int64_t> kept(size_t i, int64_t n) const {
    const int64_t cut = std::max<int64_t>(-pads[i], 0);
    return {cut, n - cut - std::max<int64_t>(-pads[pads.size() / 2 + i], 0)};
  }
  struct Run {
    int64_t from, step, to, count;  // in elements of this axis
  };
  std::vector<Run> runs(size_t i, int64_t n) const {
    const auto [first, count] = kept(i, n);
    const int64_t before = std::max<int64_t>(pads[i], 0);
    const int64_t behind = std::max<int64_t>(pads[pads.size() / 2 + i], 0);
    const Run inside{first, 1, before, count};
    const int64_t last = first + count - 1;
    if (mode == "edge") return {{first, 0, 0, before}, inside, {last, 0, before + count, behind}};
    if (mode == "reflect")
      return {{first + before, -1, 0, before}, inside, {last - 1, -1, before + count, behind}};
    return {inside};
  }
};

inline void define_pad(OpTable& t) { t.add<Pad>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_PAD_H_
