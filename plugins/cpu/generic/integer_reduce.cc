// Reductions that shape computations need, and argmax/argmin: scalar loops.
#include "generic/integer_reduce.h"

#include "generic/broadcast.h"
#include "ops/arg_reduce.h"
#include "ops/reduce.h"

namespace foveal::cpu {
namespace {

enum class Fold { kSum, kMean, kMax, kMin, kProd, kL1, kSumSquare, kNone };

Fold fold_of(const std::string& op) {
  return op == "reduce_sum"          ? Fold::kSum
         : op == "reduce_mean"       ? Fold::kMean
         : op == "reduce_max"        ? Fold::kMax
         : op == "reduce_min"        ? Fold::kMin
         : op == "reduce_prod"       ? Fold::kProd
         : op == "reduce_l1"         ? Fold::kL1
         : op == "reduce_sum_square" ? Fold::kSumSquare
                                     : Fold::kNone;
}

struct IntegerReduce : Kernel {
  Fold fold;
  Input x;
  int y;
  fv_dtype dtype;
  int64_t total = 0, results = 0, reduced = 1;
  Dims dims, out_stride;  // out_stride is 0 along reduced axes

  template <class T>
  void walk(const Run& r) const {
    // Integers wrap through unsigned arithmetic; double is its own accumulator.
    using A = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
    const T* src = x.ptr<T>(r);
    T* dst = r.ptr<T>(y);
    const T start = fold == Fold::kProd  ? T(1)
                    : fold == Fold::kMax ? std::numeric_limits<T>::lowest()
                    : fold == Fold::kMin ? std::numeric_limits<T>::max()
                                         : T(0);
    std::fill_n(dst, results, start);
    for (int64_t i = 0; i < total; ++i) {
      int64_t rest = i, at = 0;
      for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) at += rest % dims[d] * out_stride[d];
      const T v = src[i];
      T& acc = dst[at];
      const A a = static_cast<A>(acc), b = static_cast<A>(v);
      switch (fold) {
        case Fold::kMax:
          acc = std::max(acc, v);
          break;
        case Fold::kMin:
          acc = std::min(acc, v);
          break;
        case Fold::kProd:
          acc = static_cast<T>(a * b);
          break;
        case Fold::kL1:
          acc = static_cast<T>(v < T(0) ? a - b : a + b);
          break;
        case Fold::kSumSquare:
          acc = static_cast<T>(a + b * b);
          break;
        default:
          acc = static_cast<T>(a + b);
      }
    }
    if constexpr (std::is_floating_point_v<T>)
      if (fold == Fold::kMean)
        for (int64_t i = 0; i < results; ++i) dst[i] /= static_cast<T>(reduced);
  }
  // The sum, and even the count, may not fit the type whose mean does. Rounds toward zero; the mean
  // of nothing is 0.
  template <class T>
  void integer_mean(const Run& r) const {
    using Sum = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    const T* src = x.ptr<T>(r);
    T* dst = r.ptr<T>(y);
    Sum* sums = reinterpret_cast<Sum*>(r.workspace);
    std::fill_n(sums, results, Sum{0});
    for (int64_t i = 0; i < total; ++i) {
      int64_t rest = i, at = 0;
      for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) at += rest % dims[d] * out_stride[d];
      // Unsigned: 64-bit sums may wrap, but not undefinedly.
      sums[at] = static_cast<Sum>(static_cast<uint64_t>(sums[at]) + static_cast<uint64_t>(src[i]));
    }
    for (int64_t i = 0; i < results; ++i)
      dst[i] = reduced > 0 ? static_cast<T>(sums[i] / static_cast<Sum>(reduced)) : T(0);
  }
  Status run(const Run& r) override {
    with_number_type(dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>)
        if (fold == Fold::kMean) return integer_mean<T>(r);
      walk<T>(r);
    });
    return ok();
  }
};

struct ArgReduce : Kernel {
  Input x;
  int y;
  fv_dtype dtype;
  bool largest, last;
  int64_t outer = 1, length = 1, inner = 1;

  template <class T>
  void walk(const Run& r) const {
    const T* src = x.ptr<T>(r);
    int64_t* dst = r.ptr<int64_t>(y);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const T* p = src + o * length * inner + i;
        int64_t best = 0;
        for (int64_t k = 1; k < length; ++k) {
          const T a = p[k * inner], b = p[best * inner];
          // As numpy: the first NaN wins over everything.
          const bool better = b == b && ((largest ? a > b : a < b) || a != a);
          if (better || (last && a == b)) best = k;
        }
        dst[o * inner + i] = best;
      }
  }
  Status run(const Run& r) override {
    if (dtype == FV_FLOAT32)
      walk<float>(r);
    else
      with_number_type(dtype, [&](auto zero) { walk<decltype(zero)>(r); });
    return ok();
  }
};

void supports_arg(const Node& node, Support& s) {
  const fv_dtype t = node.input(0).dtype();
  if (t != FV_FLOAT32 && !with_number_type(t, [](auto) {}))
    return s.no(format("no kernel for %s", dtype_name(t)));
  s.yes();
}
MadeKernel make_arg(const Context&, const Node& node) {
  auto k = std::make_unique<ArgReduce>();
  const auto op = node.attrs<ops::ArgReduce>();
  const Value x = node.input(0);
  FV_ASSIGN(const int axis, resolve_axis(op.axis, x.rank()));
  k->x = Input(x);
  k->y = node.output(0).slot();
  k->dtype = x.dtype();
  k->largest = !std::strcmp(node.op(), "argmax");
  k->last = op.select_last;
  for (int i = 0; i < axis; ++i) k->outer *= x.dim(i);
  k->length = x.dim(axis);
  for (int i = axis + 1; i < x.rank(); ++i) k->inner *= x.dim(i);
  return made(std::move(k));
}

}  // namespace

bool integer_reduce_supported(const Node& node) {
  return fold_of(node.op()) != Fold::kNone && with_number_type(node.input(0).dtype(), [](auto) {});
}

MadeKernel make_integer_reduce(const Context&, const Node& node) {
  auto k = std::make_unique<IntegerReduce>();
  const Value x = node.input(0), y = node.output(0);
  FV_ASSIGN(const std::vector<bool> reduced, node.attrs<ops::Reduce>().mask(x.rank()));
  k->fold = fold_of(node.op());
  k->x = Input(x);
  k->y = y.slot();
  k->dtype = x.dtype();
  k->dims = x.dims();
  k->total = x.count();
  k->results = y.count();
  if (k->fold == Fold::kMean) k->workspace = static_cast<size_t>(k->results) * sizeof(int64_t);
  k->out_stride = Dims(k->dims.size(), 0);
  int64_t stride = 1;
  for (size_t i = k->dims.size(); i-- > 0;) {
    if (reduced[i]) {
      k->reduced *= k->dims[i];
    } else {
      k->out_stride[i] = stride;
      stride *= k->dims[i];
    }
  }
  return made(std::move(k));
}

void define_integer_reduce(Kernels& k) {
  FV_KERNEL(k, "argmax", supports_arg, make_arg, nullptr);
  FV_KERNEL(k, "argmin", supports_arg, make_arg, nullptr);
}

}  // namespace foveal::cpu
