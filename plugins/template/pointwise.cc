// Operators that compute one output element from the input elements at the same place.
#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "ops/unary.h"

namespace foveal::sample {
namespace {

// Work is cut into pieces of a fixed size: where they end must not depend on the thread count.
constexpr int64_t kPiece = 4096;

template <class F>  // f(i) for every element i of the output
void for_each(const Run& r, int64_t count, const F& f) {
  r.parallel_for((count + kPiece - 1) / kPiece, [&](int64_t piece, int) {
    const int64_t end = std::min(count, (piece + 1) * kPiece);
    for (int64_t i = piece * kPiece; i < end; ++i) f(i);
  });
}

// The output may take over the memory of input 0 when nobody needs that any more.
void unary_supports(const Node& node, Support& answer) {
  float32_only(node, answer);
  answer.in_place(0);
}

template <class F>
struct Unary : Kernel {
  F f;
  Input x;
  Value y;
  int64_t count = y.count();
  Unary(const Node& node, F fn) : f(fn), x(node.input(0)), y(node.output(0)) {}

  Status run(const Run& r) override {
    const float* src = x.at(r);
    float* dst = r.ptr<float>(y.slot());
    for_each(r, count, [&](int64_t i) { dst[i] = f(src[i]); });
    return ok();
  }
};

template <class F>
MadeKernel unary(const Node& node, F f) {
  return MadeKernel(std::make_unique<Unary<F>>(node, f));
}
// A make function runs once per node and session. What can be computed before a run is computed
// here, because run() is called for every frame and must not allocate.
MadeKernel relu(const Context&, const Node& node) {
  return unary(node, [](float x) { return x < 0 ? 0 : x; });
}
MadeKernel sigmoid(const Context&, const Node& node) {
  return unary(node, [](float x) { return 1 / (1 + std::exp(-x)); });
}
MadeKernel clip(const Context&, const Node& node) {
  // The attributes arrive in the operator's own definition, defaults filled in and checked.
  const auto op = node.attrs<ops::clip>();
  const float lo = static_cast<float>(op.min), hi = static_cast<float>(op.max);
  return unary(node, [=](float x) { return std::min(hi, std::max(lo, x)); });
}

// An input that numpy's rule stretches to the output's shape: shapes are aligned at their last
// dimension, and a dimension of size 1 is repeated by stepping over it with step 0.
struct Stretched {
  Input data;
  int rank;
  int64_t dims[FV_MAX_RANK], step[FV_MAX_RANK];

  Stretched(const Value& in, const Value& out) : data(in), rank(out.rank()) {
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      const int own = i - (rank - in.rank());
      const int64_t size = own < 0 ? 1 : in.dim(own);
      dims[i] = out.dim(i);
      step[i] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }
  int64_t place(int64_t index) const {  // of the element for element `index` of the output
    int64_t at = 0;
    for (int i = rank - 1; i >= 0; index /= dims[i--]) at += index % dims[i] * step[i];
    return at;
  }
};

template <float (*F)(float, float)>
struct Binary : Kernel {
  Stretched a, b;
  Value y;
  int64_t count = y.count();
  explicit Binary(const Node& node)
      : a(node.input(0), node.output(0)), b(node.input(1), node.output(0)), y(node.output(0)) {}

  Status run(const Run& r) override {
    const float *lhs = a.data.at(r), *rhs = b.data.at(r);
    float* dst = r.ptr<float>(y.slot());
    for_each(r, count, [&](int64_t i) { dst[i] = F(lhs[a.place(i)], rhs[b.place(i)]); });
    return ok();
  }
};

template <float (*F)(float, float)>
MadeKernel binary(const Context&, const Node& node) {
  return MadeKernel(std::make_unique<Binary<F>>(node));
}

float add(float a, float b) { return a + b; }
float mul(float a, float b) { return a * b; }

}  // namespace

std::span<const KernelDef> pointwise_kernels() {
  static const KernelDef rows[] = {
      {"relu", unary_supports, relu},     {"sigmoid", unary_supports, sigmoid},
      {"clip", unary_supports, clip},     {"add", float32_only, binary<add>},
      {"mul", float32_only, binary<mul>},
  };
  return rows;
}

}  // namespace foveal::sample
