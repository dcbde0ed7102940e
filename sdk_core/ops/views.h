// Operators that rename dimensions: the row-major elements stay as they are, so in plain layout
// they cost nothing.
#ifndef FOVEAL_OPS_VIEWS_H_
#define FOVEAL_OPS_VIEWS_H_

#include "ops/window.h"

namespace foveal::ops {

struct Reshape {
  static constexpr OpInfo kInfo{"reshape", 1, "x", "y", "Another shape over the same elements.",
                                kView};
  Ints shape;

  template <class V>
  void fields(V& v) {
    v("shape", shape, "new dimensions; 0 copies the one of the input, one -1 takes what is left");
  }
  Status infer(InferContext& c) const {
    const Dims& in = c.in(0).dims;
    FV_TRY(expect_ints("shape", shape, shape.size(), -1, int64_t{1} << 48));
    Dims out = shape;
    int open = -1;
    int64_t known = 1;  // product of the other dimensions; -1 while one is unknown
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] == -1) {
        if (open >= 0) return shape_error("shape has more than one -1");
        open = static_cast<int>(i);
        continue;
      }
      if (out[i] == 0) {
        if (i >= in.size())
          return shape_error(format("shape copies dimension %zu of ", i) + to_string(in) +
                             ", which has none");
        out[i] = in[i];
      }
      if (out[i] == kUnknown)
        known = -1;
      else if (known >= 0 && (known = checked_mul(known, out[i])) < 0)
        return shape_error("shape " + to_string(out) + " is too large");
    }
    const int64_t total = element_count(in);
    if (open >= 0) {
      int64_t missing = kUnknown;
      if (total >= 0 && known >= 0) {
        if (known == 0 ? total != 0 : total % known != 0) return mismatch(in);
        missing = known == 0 ? 0 : total / known;
      } else {
        missing = quotient_of_unknowns(in, out, open);
      }
      out[static_cast<size_t>(open)] = missing;
    } else if (total >= 0 && known >= 0 && total != known) {
      return mismatch(in);
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }

 private:
  Status mismatch(const Dims& in) const {
    std::string list;
    for (int64_t d : shape) list += (list.empty() ? "" : ", ") + std::to_string(d);
    return shape_error("input " + to_string(in) + " cannot take the shape [" + list + "]",
                       "the numbers of elements must agree");
  }
  // The -1 is still known when every unknown dimension was copied with 0 (a symbolic batch).
  static int64_t quotient_of_unknowns(const Dims& in, const Dims& out, int open) {
    int64_t a = 1, b = 1, unknown = 0;
    for (int64_t d : in) d < 0 ? ++unknown : (a = checked_mul(a, d));
    for (size_t i = 0; i < out.size(); ++i)
      if (static_cast<int>(i) != open) out[i] < 0 ? --unknown : (b = checked_mul(b, out[i]));
    return unknown == 0 && a > 0 && b > 0 && a % b == 0 ? a / b : kUnknown;
  }
};

struct Squeeze {
  static constexpr OpInfo kInfo{"squeeze", 1, "x", "y", "Removes dimensions of size 1.", kView};
  Ints axes;

  template <class V>
  void fields(V& v) {
    v("axes", axes, "dimensions to remove; empty: all of size 1");
  }
  Status infer(InferContext& c) const {
    const Dims& in = c.in(0).dims;
    FV_ASSIGN(const Ints list, resolve_axes(axes, c.in(0).rank()));
    if (list.empty() && !is_concrete(in))
      return shape_error("axes must be given while the shape " + to_string(in) + " is unknown");
    Dims out;
    for (size_t i = 0; i < in.size(); ++i) {
      const bool named = std::find(list.begin(), list.end(), static_cast<int64_t>(i)) != list.end();
      if (named && in[i] != 1 && in[i] != kUnknown)
        return shape_error(format("dimension %zu of ", i) + to_string(in) + " is not 1");
      if (!(named || (list.empty() && in[i] == 1))) out.push_back(in[i]);
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }
};

struct Unsqueeze {
  static constexpr OpInfo kInfo{"unsqueeze", 1, "x", "y", "Inserts dimensions of size 1.", kView};
  Ints axes;

  template <class V>
  void fields(V& v) {
    v("axes", axes, "positions of the new dimensions in the result");
  }
  Status infer(InferContext& c) const {
    const Dims& in = c.in(0).dims;
    if (axes.size() > FV_MAX_RANK) return shape_error("axes names more than 8 dimensions");
    const size_t rank = in.size() + axes.size();
    FV_ASSIGN(const Ints list, resolve_axes(axes, static_cast<int>(rank)));
    Dims out(rank, 0);
    for (int64_t a : list) out[static_cast<size_t>(a)] = 1;
    size_t next = 0;
    for (int64_t& d : out)
      if (d != 1) d = in[next++];
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }
};

struct Flatten {
  static constexpr OpInfo kInfo{
      "flatten", 1, "x", "y", "Two dimensions: those before `axis`, and the rest.", kView};
  int64_t axis = 1;

  template <class V>
  void fields(V& v) {
    v("axis", axis, "first dimension of the second group; may equal the rank");
  }
  Status infer(InferContext& c) const {
    const Dims& in = c.in(0).dims;
    const int rank = c.in(0).rank();
    if (axis < -rank || axis > rank)
      return shape_error(
          format("axis %lld is outside [%d, %d]", static_cast<long long>(axis), -rank, rank));
    const auto cut = in.begin() + (axis < 0 ? axis + rank : axis);
    c.out(0, {c.in(0).dtype,
              {element_count(Dims(in.begin(), cut)), element_count(Dims(cut, in.end()))}});
    return ok();
  }
};

inline void define_views(OpTable& t) {
  t.add<Reshape>();
  t.add<Squeeze>();
  t.add<Unsqueeze>();
  t.add<Flatten>();
}

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_VIEWS_H_
