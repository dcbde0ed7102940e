// Every row of ops/reduce.h, over any axes. Axes behind the channels reduce in NCxHWx as they
// stand: the global average pool reads each block once and writes it in place.
#include "ops/reduce.h"

#include "base/simd_math.h"
#include "common/operand.h"
#include "generic/integer_reduce.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

struct Axis {
  int64_t size, stride;
};

// Dimensions in memory order with neighbours of a kind joined.
struct Plan {
  std::vector<Axis> kept, reduced;  // the innermost dimension is `columns` or `run` below
  int64_t columns = 1;              // kept, contiguous (1 if the innermost dimension is reduced)
  int64_t run = 1;                  // reduced, contiguous (1 if it is kept)
  int64_t count = 1;                // elements per result
  int64_t outer() const {
    int64_t n = 1;
    for (const Axis& a : kept) n *= a.size;
    return n;
  }
};

// f(pointer) for each position of the reduced dimensions but the innermost.
template <class F>
FV_INLINE void each(const std::vector<Axis>& axes, const float* x, F f) {
  if (axes.empty()) return f(x);
  const Axis last = axes.back();
  int64_t outer = 1;
  for (const Axis& a : axes) outer *= a.size;
  outer = last.size ? outer / last.size : 0;
  for (int64_t i = 0; i < outer; ++i) {
    int64_t rest = i;
    const float* p = x;
    for (size_t d = axes.size() - 1; d-- > 0; rest /= axes[d].size)
      p += rest % axes[d].size * axes[d].stride;
    for (int64_t k = 0; k < last.size; ++k, p += last.stride) f(p);
  }
}

struct Sum {
  static float lanes(vf a) {
    double r = 0;
    for (int i = 0; i < kLanes; ++i) r += a[i];
    return static_cast<float>(r);
  }
};
struct Max {
  static float lanes(vf a) { return max_lanes(a); }
};
struct Min {
  static float lanes(vf a) { return min_lanes(a); }
};
struct Prod {
  static float lanes(vf a) {
    float r = 1;
    for (int i = 0; i < kLanes; ++i) r *= a[i];
    return r;
  }
};

#define FV_ROW(name, doc, initial, step_, result_)                                   \
  struct Row_##name {                                                                \
    static FV_INLINE vf start() { return splat(initial); }                           \
    static FV_INLINE vf step(vf acc, vf a) { return step_; }                         \
    static FV_INLINE vf result(vf acc, [[maybe_unused]] float n) { return result_; } \
  };
FV_REDUCE_OPS(FV_ROW)
#undef FV_ROW

FV_INLINE vf load_columns(const float* p, int columns) {
  return columns == kLanes ? load(p) : load_n(p, columns);
}

template <class Row>
FV_INLINE vf fold_columns(const Plan& p, const float* x, int columns, vf shift) {
  vf acc = Row::start();
  each(p.reduced, x,
       [&](const float* q) { acc = Row::step(acc, load_columns(q, columns) - shift); });
  return acc;
}
template <class Row, class Lanes, bool compensate>
FV_INLINE float fold_run(const Plan& p, const float* x, float shift) {
  vf acc = Row::start(), lost{};
  auto step = [&](vf v) {
    if constexpr (compensate) {  // Kahan: long sums keep all their bits
      const vf term = Row::step(vf{}, v) - lost, next = acc + term;
      lost = (next - acc) - term;
      acc = next;
    } else {
      acc = Row::step(acc, v);
    }
  };
  each(p.reduced, x, [&](const float* q) {
    int64_t i = 0;
    for (; i + kLanes <= p.run; i += kLanes) step(load(q + i) - shift);
    if (i < p.run) {
      const int rest = static_cast<int>(p.run - i);
      const vi keep = lane_numbers() < rest;
      const vf before = acc, before_lost = lost;
      step(load_n(q + i, rest) - shift);
      acc = v_select(keep, acc, before);
      lost = v_select(keep, lost, before_lost);
    }
  });
  return Lanes::lanes(acc);
}

using ReduceFn = void (*)(const Plan&, const float* x, float* y, int columns);

template <class Row, class Lanes, bool log_sum_exp>
void reduce(const Plan& p, const float* x, float* y, int columns) {
  const auto n = static_cast<float>(p.count);
  // An infinite maximum would make inf - inf: subtract nothing then.
  if (p.run == 1) {
    vf shift{};
    if (log_sum_exp) {
      shift = fold_columns<Row_reduce_max>(p, x, columns, vf{});
      shift = v_select(v_abs(shift) == kInf, vf{}, shift);
    }
    store_n(y, Row::result(fold_columns<Row>(p, x, columns, shift), n) + shift, columns);
  } else {
    float shift = 0;
    if (log_sum_exp) {
      shift = fold_run<Row_reduce_max, Max, false>(p, x, 0);
      shift = v_abs(shift) == kInf ? 0 : shift;
    }
    float folded = fold_run<Row, Lanes, std::is_same_v<Lanes, Sum>>(p, x, shift);
    // The compensation turns infinities into NaN.
    if (folded != folded) folded = fold_run<Row, Lanes, false>(p, x, shift);
    y[0] = Row::result(splat(folded), n)[0] + shift;
  }
}

ReduceFn find(const std::string& op) {
#define FV_FIND(name, lanes, log_sum_exp) \
  if (FV_HAS_OPERATOR(#name) && op == #name) return reduce<Row_##name, lanes, log_sum_exp>
  FV_FIND(reduce_max, Max, false);
  FV_FIND(reduce_min, Min, false);
  FV_FIND(reduce_prod, Prod, false);
  FV_FIND(reduce_log_sum_exp, Sum, true);
  FV_FIND(reduce_mean, Sum, false);
  FV_FIND(reduce_sum, Sum, false);
  FV_FIND(reduce_l1, Sum, false);
  FV_FIND(reduce_l2, Sum, false);
  FV_FIND(reduce_sum_square, Sum, false);
#undef FV_FIND
  return nullptr;
}

struct ReduceKernel : Kernel {
  ReduceFn fn = nullptr;
  Plan plan;
  Input x;
  int y = -1, threads = 1;
  // NCxHWx input, plain [N, C] output: padding lanes are left out.
  int64_t drop_channels = 0;

  Status run(const Run& r) override {
    const float* src = x.ptr<float>(r);
    float* dst = r.ptr<float>(y);
    const int64_t pieces = ceil_div(plan.columns, kLanes);
    const int64_t items = plan.outer() * pieces;
    const int64_t tasks = task_count(
        items, static_cast<double>(plan.count) / (plan.run == 1 ? 1 : kLanes) + 4, threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(items, task, tasks);
      for (int64_t i = range.begin; i < range.end; ++i) {
        int64_t rest = i / pieces;
        const int64_t column = i % pieces * kLanes;
        const float* p = src + column;
        for (size_t d = plan.kept.size(); d-- > 0; rest /= plan.kept[d].size)
          p += rest % plan.kept[d].size * plan.kept[d].stride;
        int64_t to = i / pieces * plan.columns + column;
        auto columns = static_cast<int>(std::min<int64_t>(kLanes, plan.columns - column));
        if (drop_channels) {
          const int64_t blocks = ceil_div(drop_channels, kLanes), block = i % blocks;
          to = i / blocks * drop_channels + block * kLanes;
          columns = static_cast<int>(std::min<int64_t>(kLanes, drop_channels - block * kLanes));
        }
        fn(plan, p, dst + to, columns);
      }
    });
    return ok();
  }
};

// The axes lie behind the channels: each block reduces on its own.
bool spatial(const std::vector<bool>& reduced) {
  if (reduced.size() < 3) return false;
  return !reduced[0] && !reduced[1];
}

void supports(const Node& node, Support& s) {
  const Value x = node.input(0);
  if (!is_float(x) && !integer_reduce_supported(node))
    return s.no(format("no kernel for %s", dtype_name(x.dtype())));
  auto reduced = node.attrs<ops::Reduce>().mask(x.rank());
  if (!reduced.ok()) return s.no(reduced.status().message());
  // Fused vectors per channel need neither layout; anything across channels needs plain.
  if (is_float(x) && spatial(reduced.value()) && x.rank() == 4)
    s.yes(kAny, kAny);
  else
    s.yes();
}

MadeKernel make(const Context& c, const Node& node) {
  const Value x = node.input(0), y = node.output(0);
  if (!is_float(x)) return make_integer_reduce(c, node);
  const auto op = node.attrs<ops::Reduce>();
  FV_ASSIGN(std::vector<bool> reduced, op.mask(x.rank()));
  auto k = std::make_unique<ReduceKernel>();
  k->fn = find(node.op());
  k->x = Input(x);
  k->y = y.slot();
  k->threads = c.threads();
  const Dims dims = physical_dims(x.dims(), x.layout());
  reduced.resize(dims.size(), false);  // the lanes of a block stay
  Plan& p = k->plan;
  struct Joined {
    int64_t size, stride;
    bool reduced;
  };
  std::vector<Joined> joined;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) {
    if (reduced[i]) p.count *= dims[i];
    if (dims[i] == 1) continue;
    if (!joined.empty() && joined.back().reduced == reduced[i])
      joined.back().size *= dims[i];
    else
      joined.push_back({dims[i], stride, reduced[i]});
  }
  std::reverse(joined.begin(), joined.end());
  if (!joined.empty()) {
    (joined.back().reduced ? p.run : p.columns) = joined.back().size;
    joined.pop_back();
  }
  for (const Joined& j : joined) (j.reduced ? p.reduced : p.kept).push_back({j.size, j.stride});
  if (is_blocked(x.layout()) && !is_blocked(y.layout()) && x.dim(1) % kLanes) {
    if (y.rank() != 2)
      return Status(FV_INTERNAL,
                    "blocked input with plain output of rank " + std::to_string(y.rank()));
    k->drop_channels = x.dim(1);
  }
  return made(std::move(k));
}

}  // namespace

void define_reduce(Kernels& k) {
#define FV_ROW(name, ...) FV_KERNEL(k, #name, supports, make, nullptr);
  FV_REDUCE_OPS(FV_ROW)
#undef FV_ROW
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
