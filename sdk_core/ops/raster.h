// The data movement primitive: copies of strided regions, all in elements of row-major tensors.
// Every movement operator lowers to it, and adjacent ones merge (graph/raster.h).
#ifndef FOVEAL_OPS_RASTER_H_
#define FOVEAL_OPS_RASTER_H_

#include <algorithm>

#include "ops/window.h"

namespace foveal::ops {

inline constexpr int kMaxRegionRank = 2 * FV_MAX_RANK;

// dst[dst_offset + i . dst_stride] = src[src_offset + i . src_stride] for all 0 <= i < size.
// Strides may be negative; a source stride of 0 repeats. Regions of one raster write disjoint
// elements.
struct Region {
  int64_t input = 0;
  int64_t src_offset = 0, dst_offset = 0;
  Ints size, src_stride, dst_stride;
  int64_t count() const { return element_count(size); }
};

// Row-major strides of a concrete shape.
inline Ints row_major(const Dims& dims) {
  Ints s(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) s[i - 1] = s[i] * dims[i];
  return s;
}

// Drops dimensions of size 1, orders the rest by falling |dst_stride| and joins neighbours that
// are one run in both tensors. The elements copied stay the same. Nothing bounds the numbers of
// regions that copy nothing, or that read from shapes still unknown.
inline void normalise(Region& r) {
  if (std::find(r.size.begin(), r.size.end(), 0) != r.size.end()) {
    r.size = {0}, r.src_stride = {1}, r.dst_stride = {1};
    return;
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < r.size.size(); ++i)
    if (r.size[i] != 1) order.push_back(i);
  const auto magnitude = [&](size_t i) {
    const auto stride = static_cast<uint64_t>(r.dst_stride[i]);
    return r.dst_stride[i] < 0 ? 0 - stride : stride;
  };
  const auto is_product = [](int64_t product, int64_t a, int64_t b) {
    int64_t value;
    return !__builtin_mul_overflow(a, b, &value) && value == product;
  };
  for (size_t i = 1; i < order.size(); ++i)  // few dimensions: insertion sort, stable and small
    for (size_t k = i; k > 0 && magnitude(order[k - 1]) < magnitude(order[k]); --k)
      std::swap(order[k - 1], order[k]);
  Ints size, src, dst;
  for (size_t i : order) {
    const int64_t n = r.size[i], s = r.src_stride[i], t = r.dst_stride[i];
    if (!size.empty() && is_product(src.back(), s, n) && is_product(dst.back(), t, n)) {
      size.back() *= n;
      src.back() = s;
      dst.back() = t;
    } else {
      size.push_back(n), src.push_back(s), dst.push_back(t);
    }
  }
  if (size.empty()) size = {1}, src = {1}, dst = {1};
  r.size = std::move(size), r.src_stride = std::move(src), r.dst_stride = std::move(dst);
}

struct Raster {
  static constexpr OpInfo kInfo{
      "raster", 1, "xs*", "y", "Strided copies of regions of the inputs into a new tensor.",
      kMovement};
  Ints shape;
  double fill = 0;
  int64_t rank = 1;
  Ints regions;

  template <class V>
  void fields(V& v) {
    v("shape", shape, "shape of the result");
    v("fill", fill, "value of elements that no region writes");
    v("rank", rank, "dimensions of every region");
    v("regions", regions,
      "per region: input, src_offset, dst_offset, size[rank], src_stride[rank], "
      "dst_stride[rank], in elements");
  }

  size_t region_count() const { return regions.size() / static_cast<size_t>(3 + 3 * rank); }
  Region region(size_t i) const {
    const auto n = static_cast<size_t>(rank);
    const int64_t* p = regions.data() + i * (3 + 3 * n);
    return {p[0],
            p[1],
            p[2],
            Ints(p + 3, p + 3 + n),
            Ints(p + 3 + n, p + 3 + 2 * n),
            Ints(p + 3 + 2 * n, p + 3 + 3 * n)};
  }
  std::vector<Region> all() const {
    std::vector<Region> list;
    for (size_t i = 0; i < region_count(); ++i) list.push_back(region(i));
    return list;
  }
  // Every element is written by a region, so `fill` is never needed.
  bool covers() const {
    int64_t n = 0;
    for (size_t i = 0; i < region_count(); ++i) n += region(i).count();
    return n == element_count(shape);
  }
  // Regions of different ranks get leading dimensions of size 1.
  void set(const std::vector<Region>& list) {
    size_t n = 1;
    for (const Region& r : list) n = std::max(n, r.size.size());
    rank = static_cast<int64_t>(n);
    regions.clear();
    for (const Region& r : list) {
      regions.insert(regions.end(), {r.input, r.src_offset, r.dst_offset});
      const size_t missing = n - r.size.size();
      regions.insert(regions.end(), missing, 1);
      regions.insert(regions.end(), r.size.begin(), r.size.end());
      regions.insert(regions.end(), missing, 0);
      regions.insert(regions.end(), r.src_stride.begin(), r.src_stride.end());
      regions.insert(regions.end(), missing, 0);
      regions.insert(regions.end(), r.dst_stride.begin(), r.dst_stride.end());
    }
  }
  Attrs attrs() const {
    return {{"shape", shape}, {"fill", fill}, {"rank", rank}, {"regions", regions}};
  }

  Status infer(InferContext& c) const {
    FV_TRY(expect_ints("shape", shape, shape.size(), 0, int64_t{1} << 48));
    FV_TRY(expect_ints("rank", {rank}, 1, 1, kMaxRegionRank));
    if (regions.size() % static_cast<size_t>(3 + 3 * rank))
      return shape_error(format("regions holds %zu integers, expected a multiple of %lld",
                                regions.size(), static_cast<long long>(3 + 3 * rank)));
    for (int i = 1; i < c.inputs(); ++i) FV_TRY(expect_same_dtype(c, 0, i));
    const int64_t total = element_count(shape);
    if (total < 0) return shape_error("shape " + to_string(shape) + " is too large");
    int64_t written = 0;
    for (size_t i = 0; i < region_count(); ++i) {
      const Region r = region(i);
      FV_TRY(check(r, c, total).within("region " + std::to_string(i)));
      written += r.count();
      if (written > total) return shape_error("regions overlap");
    }
    c.out(0, {c.in(0).dtype, shape});
    return ok();
  }

  Status check(const Region& r, const InferContext& c, int64_t total) const {
    if (r.input < 0 || r.input >= c.inputs())
      return shape_error(format("input %lld of %d", static_cast<long long>(r.input), c.inputs()));
    const int64_t count = r.count();
    if (count < 0) return shape_error("size " + to_string(r.size) + " is negative or too large");
    if (count == 0) return ok();
    const Dims& in = c.in(static_cast<int>(r.input)).dims;
    const int64_t available = element_count(in);
    if (is_concrete(in) && !inside(r.src_offset, r.size, r.src_stride, available))
      return shape_error("reads outside its input " + to_string(in));
    if (!inside(r.dst_offset, r.size, r.dst_stride, total))
      return shape_error("writes outside the output " + to_string(shape));
    return ok();
  }

  // All addresses of a strided walk lie in [0, limit). 128 bits cannot overflow here.
  static bool inside(int64_t offset, const Ints& size, const Ints& stride, int64_t limit) {
    __int128 low = offset, high = offset;
    for (size_t i = 0; i < size.size(); ++i) {
      const __int128 reach = static_cast<__int128>(size[i] - 1) * stride[i];
      (reach < 0 ? low : high) += reach;
    }
    return low >= 0 && high < limit;
  }
};

// Collects regions given by logical shapes and emits the node.
class RasterBuilder {
 public:
  RasterBuilder(Decomposer& d, Dims shape) : d_(d) { raster_.shape = std::move(shape); }

  void add(Region r) {
    if (r.count() == 0) return;
    normalise(r);
    list_.push_back(std::move(r));
  }
  size_t size() const { return list_.size(); }
  // Several inputs are numbered in the order given here. Reports a failure like Decomposer::op.
  Decomposer::Value build(std::vector<Decomposer::Value> inputs, double fill = 0) {
    raster_.set(list_);
    raster_.fill = fill;
    return d_.op("raster", std::move(inputs), raster_.attrs());
  }

 private:
  Decomposer& d_;
  Raster raster_;
  std::vector<Region> list_;
};

inline void define_raster(OpTable& t) { t.add<Raster>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_RASTER_H_
