// Checks and shape rules shared by operator definitions. A hostile file reaches these functions
// with any attribute value, so each list is checked before it is indexed and each number before
// it enters arithmetic.
#ifndef FOVEAL_OPS_WINDOW_H_
#define FOVEAL_OPS_WINDOW_H_

#include "ops/op.h"

namespace foveal::ops {

// Largest kernel, stride, pad, repeat or size attribute: sums and products of two stay in 64 bits.
inline constexpr int64_t kMaxExtent = (int64_t{1} << 31) - 1;

inline Status expect_rank(const InferContext& c, int i, int rank, const char* what = nullptr) {
  const Dims& dims = c.in(i).dims;
  if (static_cast<int>(dims.size()) == rank) return ok();
  const std::string name = what ? what : i == 0 ? "input" : "input " + std::to_string(i);
  return shape_error(name + " has shape " + to_string(dims) + ", expected rank " +
                     std::to_string(rank));
}

inline Status expect_dtype(const InferContext& c, int i, fv_dtype dtype) {
  if (c.in(i).dtype == dtype) return ok();
  return shape_error(
      format("input %d is %s, expected %s", i, dtype_name(c.in(i).dtype), dtype_name(dtype)),
      "insert a cast");
}

inline Status expect_same_dtype(const InferContext& c, int i, int j) {
  if (c.in(i).dtype == c.in(j).dtype) return ok();
  return shape_error(format("input %d is %s but input %d is %s, expected one type", i,
                            dtype_name(c.in(i).dtype), j, dtype_name(c.in(j).dtype)),
                     "insert a cast");
}

inline Status expect_float(const InferContext& c, int i) {
  if (dtype_is_float(c.in(i).dtype)) return ok();
  return shape_error(format("input %d is %s, expected a float type", i, dtype_name(c.in(i).dtype)),
                     "insert a cast");
}

// An attribute list of exactly `count` integers in [low, high].
inline Status expect_ints(const char* name, const Ints& list, size_t count, int64_t low,
                          int64_t high = kMaxExtent) {
  bool good = list.size() == count;
  for (int64_t v : list) good = good && v >= low && v <= high;
  if (good) return ok();
  std::string got;
  for (size_t i = 0; i < list.size() && i < 8; ++i)
    got += (i ? ", " : "") + std::to_string(list[i]);
  if (list.size() > 8) got += ", ...";
  return shape_error(std::string(name) + " is [" + got + "], expected " + std::to_string(count) +
                     " integers from " + std::to_string(low) + " to " + std::to_string(high));
}

inline Status expect_axis(int64_t axis, int rank) {
  auto resolved = resolve_axis(axis, rank);
  return std::move(resolved.status());
}

// Axes made non-negative, in the order given; duplicates are an error.
inline Result<Ints> resolve_axes(const Ints& axes, int rank) {
  Ints out;
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (int64_t a : axes) {
    FV_ASSIGN(const int axis, resolve_axis(a, rank));
    if (seen[axis]) return shape_error(format("axis %d is named twice", axis));
    seen[axis] = true;
    out.push_back(axis);
  }
  return out;
}

inline Status expect_one_of(const char* name, const std::string& value,
                            std::initializer_list<const char*> choices) {
  std::string all;
  for (const char* choice : choices) {
    if (value == choice) return ok();
    all += (all.empty() ? "'" : ", '") + std::string(choice) + "'";
  }
  return shape_error(std::string(name) + " is '" + value.substr(0, 40) + "', expected one of " +
                     all);
}

// One axis of a sliding window. `dilation` is the distance between taps.
struct Window {
  int64_t kernel, stride, pad_begin, pad_end, dilation;
  int64_t extent() const { return dilation * (kernel - 1) + 1; }
};

// Output positions of a window over `in` elements; kUnknown for an unknown input. With `ceil`
// the last window may hang over the end, but must start inside the input or the padding before
// it (the rule of ONNX and PyTorch). The window's numbers have passed expect_ints.
inline Result<int64_t> window_count(int64_t in, const Window& w, bool ceil) {
  if (in == kUnknown) return kUnknown;
  const int64_t padded = in + w.pad_begin + w.pad_end;
  if (w.extent() > padded)
    return shape_error(
        format("window of %lld (kernel %lld, dilation %lld) is larger than the padded input %lld "
               "(%lld + %lld + %lld)",
               static_cast<long long>(w.extent()), static_cast<long long>(w.kernel),
               static_cast<long long>(w.dilation), static_cast<long long>(padded),
               static_cast<long long>(w.pad_begin), static_cast<long long>(in),
               static_cast<long long>(w.pad_end)),
        "use a larger input or more padding");
  int64_t count = (padded - w.extent() + (ceil ? w.stride - 1 : 0)) / w.stride + 1;
  if (ceil && (count - 1) * w.stride >= in + w.pad_begin) --count;
  return count;
}

// The checks of everything windowed: stride, pad and dilation lists of a 2-D operator.
template <class Op>
Status check_window(const Op& op) {
  FV_TRY(expect_ints("stride", op.stride, 2, 1));
  FV_TRY(expect_ints("pad", op.pad, 4, 0));
  return expect_ints("dilation", op.dilation, 2, 1);
}

// Axis 0 = height, 1 = width, of an operator whose lists have passed check_window.
template <class Op>
Window window_of(const Op& op, int axis, int64_t kernel) {
  return {kernel, op.stride[axis], op.pad[axis], op.pad[axis + 2], op.dilation[axis]};
}

// For operators that carry their kernel size as an attribute.
template <class Op>
Result<int64_t> windowed_size(int64_t in, const Op& op, int axis, bool ceil) {
  FV_TRY(check_window(op));
  FV_TRY(expect_ints("kernel", op.kernel, 2, 1));
  return window_count(in, window_of(op, axis, op.kernel[axis]), ceil);
}

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_WINDOW_H_
