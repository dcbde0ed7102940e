// softmax and log_softmax along any axis of a plain tensor.
#include "ops/softmax.h"

#include "base/simd_math.h"
#include "common/posts.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

// Contiguous axis: vectors along it.
void contiguous(const float* x, float* y, int64_t n, bool logarithm) {
  vf top = splat(-kInf);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) top = v_max_nan(top, load(x + i));
  float m = max_lanes(top);
  for (int64_t j = i; j < n; ++j) m = v_max_nan(m, x[j]);
  vf sums{};
  float* e = logarithm ? nullptr : y;
  for (i = 0; i + kLanes <= n; i += kLanes) {
    const vf v = v_exp(load(x + i) - m);
    sums += v;
    if (e) store(e + i, v);
  }
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    const vf v = v_exp(load_n(x + i, rest) - m);
    sums += v_select(lane_numbers() < rest, v, vf{});
    if (e) store_n(e + i, v, rest);
  }
  const float sum = sum_lanes(sums);
  if (logarithm) {
    const float shift = m + v_log(sum);
    for (i = 0; i < n; ++i) y[i] = x[i] - shift;
  } else {
    for (i = 0; i < n; ++i) y[i] = y[i] / sum;
  }
}

// `columns` <= kLanes neighbouring columns, `stride` floats between elements of the axis.
void strided(const float* x, float* y, int64_t n, int64_t stride, int columns, bool logarithm) {
  auto get = [&](int64_t i) {
    return columns == kLanes ? load(x + i * stride) : load_n(x + i * stride, columns);
  };
  auto put = [&](int64_t i, vf v) {
    if (columns == kLanes)
      store(y + i * stride, v);
    else
      store_n(y + i * stride, v, columns);
  };
  vf top = splat(-kInf), sum{};
  for (int64_t i = 0; i < n; ++i) top = v_max_nan(top, get(i));
  for (int64_t i = 0; i < n; ++i) sum += v_exp(get(i) - top);
  const vf log_sum = v_log(sum);
  for (int64_t i = 0; i < n; ++i)
    put(i, logarithm ? get(i) - top - log_sum : v_exp(get(i) - top) / sum);
}

struct SoftmaxKernel : Kernel {
  Input x;
  int y = -1, threads = 1;
  int64_t outer = 1, length = 1, inner = 1;
  bool logarithm = false;
  Status run(const Run& r) override {
    const float* src = x.ptr<float>(r);
    float* dst = r.ptr<float>(y);
    const int64_t pieces = inner == 1 ? 1 : ceil_div(inner, kLanes);
    const int64_t items = outer * pieces;
    const int64_t tasks =
        task_count(items, static_cast<double>(length) * (inner == 1 ? 2.0 : 30.0), threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(items, task, tasks);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t column = i % pieces * kLanes;
        const int64_t at = i / pieces * length * inner + column;
        if (inner == 1)
          contiguous(src + at, dst + at, length, logarithm);
        else
          strided(src + at, dst + at, length, inner,
                  static_cast<int>(std::min<int64_t>(kLanes, inner - column)), logarithm);
      }
    });
    return ok();
  }
};

void supports(const Node& node, Support& s) {
  if (!is_float(node.input(0))) return s.no("float32 only");
  s.yes();
}

MadeKernel make(const Context& c, const Node& node) {
  auto k = std::make_unique<SoftmaxKernel>();
  const Value x = node.input(0);
  FV_ASSIGN(const int axis, resolve_axis(node.attrs<ops::Softmax>().axis, x.rank()));
  k->x = Input(x);
  k->y = node.output(0).slot();
  k->threads = c.threads();
  k->logarithm = !std::strcmp(node.op(), "log_softmax");
  for (int i = 0; i < axis; ++i) k->outer *= x.dim(i);
  k->length = x.dim(axis);
  for (int i = axis + 1; i < x.rank(); ++i) k->inner *= x.dim(i);
  return made(std::move(k));
}

}  // namespace

void define_softmax(Kernels& k) {
  FV_KERNEL(k, "softmax", supports, make);
  FV_KERNEL(k, "log_softmax", supports, make);
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
