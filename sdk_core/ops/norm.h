// Normalisations. All decompose; a backend may offer a fused kernel instead.
#ifndef FOVEAL_OPS_NORM_H_
#define FOVEAL_OPS_NORM_H_

#include <cmath>

#include "ops/window.h"

namespace foveal::ops {

// Input i is a vector with one element per channel (axis 1 of input 0).
inline Status expect_per_channel(const InferContext& c, int i, const char* name) {
  FV_TRY(expect_rank(c, i, 1, name));
  FV_TRY(expect_same_dtype(c, 0, i));
  const int64_t n = c.in(i).dims[0], channels = c.in(0).dims[1];
  if (n != kUnknown && channels != kUnknown && n != channels)
    return shape_error(format("%s has %lld elements, the input has %lld channels", name,
                              static_cast<long long>(n), static_cast<long long>(channels)));
  return ok();
}

inline Status expect_epsilon(double epsilon) {
  if (epsilon >= 0 && epsilon < 1e30) return ok();
  return shape_error(format("epsilon is %g, expected a small number >= 0", epsilon));
}

// Per-channel vector v as [C, 1, 1 ...], ready to broadcast to NCHW of the given rank.
inline Decomposer::Value channel_view(Decomposer& d, Decomposer::Value v, int rank) {
  Ints shape(static_cast<size_t>(rank - 1), 1);
  shape[0] = d.type(v).dims[0];
  return d.op("reshape", {v}, {{"shape", shape}});
}

struct BatchNorm {
  static constexpr OpInfo kInfo{
      "batch_norm", 1, "x, scale, bias, mean, variance", "y",
      "(x - mean) / sqrt(variance + epsilon) * scale + bias per channel."};
  double epsilon = 1e-5;

  template <class V>
  void fields(V& v) {
    v("epsilon", epsilon, "added to the variance");
  }
  Status infer(InferContext& c) const {
    FV_TRY(expect_float(c, 0));
    FV_TRY(expect_epsilon(epsilon));
    if (c.in(0).rank() < 2)
      return shape_error("input has shape " + to_string(c.in(0).dims) + ", expected rank >= 2");
    const char* names[] = {"scale", "bias", "mean", "variance"};
    for (int i = 0; i < 4; ++i) FV_TRY(expect_per_channel(c, i + 1, names[i]));
    c.out(0, c.in(0));
    return ok();
  }
  Status decompose(Decomposer& d) const {
    const TensorType x = d.type(d.in(0));
    const float* p[4];
    bool constant = x.dtype == FV_FLOAT32;
    for (int i = 0; i < 4; ++i) {
      p[i] = static_cast<const float*>(d.constant_data(d.in(i + 1)));
      constant = constant && p[i];
    }
    if (constant) {  // x * factor + offset with both known now
      const auto channels = static_cast<size_t>(x.dims[1]);
      std::vector<float> factor(channels), offset(channels);
      for (size_t i = 0; i < channels; ++i) {
        const double f = p[0][i] / std::sqrt(static_cast<double>(p[3][i]) + epsilon);
        factor[i] = static_cast<float>(f);
        offset[i] = static_cast<float>(p[1][i] - p[2][i] * f);
      }
      TensorType t{FV_FLOAT32, Dims(x.dims.size() - 1, 1)};
      t.dims[0] = x.dims[1];
      const auto scaled = d.op("mul", {d.in(0), d.constant(t, factor.data())});
      d.out(0, d.op("add", {scaled, d.constant(t, offset.data())}));
      return ok();
    }
    const auto spread =
        d.op("sqrt", {d.op("add", {d.in(4), d.scalar(static_cast<float>(epsilon))})});
    const auto factor = channel_view(d, d.op("div", {d.in(1), spread}), x.rank());
    const auto centred = d.op("sub", {d.in(0), channel_view(d, d.in(3), x.rank())});
    const auto scaled = d.op("mul", {centred, factor});
    d.out(0, d.op("add", {scaled, channel_view(d, d.in(2), x.rank())}));
    return ok();
  }
};

// (x - mean) / sqrt(variance + epsilon) with statistics over `axes`.
inline Decomposer::Value standardise(Decomposer& d, const Ints& axes, double epsilon) {
  const auto centred = d.op("sub", {d.in(0), d.op("reduce_mean", {d.in(0)}, {{"axes", axes}})});
  const auto variance = d.op("reduce_mean", {d.op("square", {centred})}, {{"axes", axes}});
  const auto spread =
      d.op("sqrt", {d.op("add", {variance, d.scalar(static_cast<float>(epsilon))})});
  return d.op("div", {centred, spread});
}

struct InstanceNorm {
  static constexpr OpInfo kInfo{"instance_norm", 1, "x, scale, bias", "y",
                                "Normalises each channel of each image over its pixels, then "
                                "scales and shifts per channel."};
  double epsilon = 1e-5;

  template <class V>
  void fields(V& v) {
    v("epsilon", epsilon, "added to the variance");
  }
  Status infer(InferContext& c) const {
    FV_TRY(expect_float(c, 0));
    FV_TRY(expect_epsilon(epsilon));
    if (c.in(0).rank() < 3)
      return shape_error("input has shape " + to_string(c.in(0).dims) + ", expected rank >= 3");
    FV_TRY(expect_per_channel(c, 1, "scale"));
    FV_TRY(expect_per_channel(c, 2, "bias"));
    c.out(0, c.in(0));
    return ok();
  }
  Status decompose(Decomposer& d) const {
    const int rank = d.type(d.in(0)).rank();
    Ints axes;
    for (int i = 2; i < rank; ++i) axes.push_back(i);
    const auto scaled =
        d.op("mul", {standardise(d, axes, epsilon), channel_view(d, d.in(1), rank)});
    d.out(0, d.op("add", {scaled, channel_view(d, d.in(2), rank)}));
    return ok();
  }
};

struct LayerNorm {
  static constexpr OpInfo kInfo{"layer_norm", 1, "x, scale?, bias?", "y",
                                "Normalises over all axes from `axis` on, then scales and shifts."};
  int64_t axis = -1;
  double epsilon = 1e-5;

  template <class V>
  void fields(V& v) {
    v("axis", axis, "first normalised axis");
    v("epsilon", epsilon, "added to the variance");
  }
  Status infer(InferContext& c) const {
    FV_TRY(expect_float(c, 0));
    FV_TRY(expect_epsilon(epsilon));
    FV_TRY(expect_axis(axis, c.in(0).rank()));
    for (int i = 1; i < 3; ++i) {
      if (i >= c.inputs() || !c.has(i)) continue;
      FV_TRY(expect_same_dtype(c, 0, i));
      FV_ASSIGN(const Dims dims, broadcast(c.in(0).dims, c.in(i).dims));
      if (dims.size() != c.in(0).dims.size() ||
          (is_concrete(dims) && is_concrete(c.in(0).dims) && dims != c.in(0).dims))
        return shape_error(std::string(i == 1 ? "scale " : "bias ") + to_string(c.in(i).dims) +
                           " does not broadcast to input " + to_string(c.in(0).dims));
    }
    c.out(0, c.in(0));
    return ok();
  }
  Status decompose(Decomposer& d) const {
    const int rank = d.type(d.in(0)).rank();
    FV_ASSIGN(const int first, resolve_axis(axis, rank));
    Ints axes;
    for (int i = first; i < rank; ++i) axes.push_back(i);
    auto y = standardise(d, axes, epsilon);
    if (d.inputs() > 1 && d.has(1)) y = d.op("mul", {y, d.in(1)});
    if (d.inputs() > 2 && d.has(2)) y = d.op("add", {y, d.in(2)});
    d.out(0, y);
    return ok();
  }
};

struct L2Normalize {
  static constexpr OpInfo kInfo{"l2_normalize", 1, "x", "y",
                                "x / sqrt(max(sum(x^2), epsilon)) along one axis."};
  int64_t axis = -1;
  double epsilon = 1e-5;

  template <class V>
  void fields(V& v) {
    v("axis", axis, "axis to normalise");
    v("epsilon", epsilon, "smallest squared length");
  }
  Status infer(InferContext& c) const {
    FV_TRY(expect_float(c, 0));
    FV_TRY(expect_epsilon(epsilon));
    FV_TRY(expect_axis(axis, c.in(0).rank()));
    c.out(0, c.in(0));
    return ok();
  }
  Status decompose(Decomposer& d) const {
    const auto squares = d.op("reduce_sum_square", {d.in(0)}, {{"axes", Ints{axis}}});
    const auto limited = d.op("max", {squares, d.scalar(static_cast<float>(epsilon))});
    d.out(0, d.op("div", {d.in(0), d.op("sqrt", {limited})}));
    return ok();
  }
};

inline void define_norm(OpTable& t) {
  t.add<BatchNorm>();
  t.add<InstanceNorm>();
  t.add<LayerNorm>();
  t.add<L2Normalize>();
}

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_NORM_H_
