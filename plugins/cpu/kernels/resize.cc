// Nearest and bilinear resampling of NCxHWx: taps per row and column are tables, pixels vectors.
#include "ops/resize.h"

#include "common/posts.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

struct Tap {
  int low, high;
  float weight;  // of high
};

template <class T>
T source(int64_t i, int64_t in, int64_t out, double scale, const std::string& grid) {
  const T x = static_cast<T>(i), s = static_cast<T>(scale), half = T(0.5);
  if (grid == "asymmetric") return x / s;
  if (grid == "align_corners")
    return out > 1 ? x * static_cast<T>(in - 1) / static_cast<T>(out - 1) : 0;
  if (grid == "pytorch_half_pixel" && out <= 1) return 0;
  return (x + half) / s - half;
}

template <class T>
T nearest(T at, const std::string& rounding) {
  if (rounding == "floor") return std::floor(at);
  if (rounding == "ceil") return std::ceil(at);
  const T below = std::floor(at), past_half = at - below - T(0.5);
  const bool up = std::abs(past_half) < T(1e-6) ? rounding == "round_prefer_ceil" : past_half > 0;
  return up ? below + 1 : below;
}

std::vector<Tap> taps(const ops::Resize& op, int64_t in, int64_t out, double scale) {
  std::vector<Tap> list;
  const auto last = static_cast<double>(in - 1);
  for (int64_t i = 0; i < out; ++i) {
    if (op.mode == "nearest") {
      const double at = op.scale.empty()
                            ? nearest(source<double>(i, in, out, scale, op.grid), op.rounding)
                            : static_cast<double>(
                                  nearest(source<float>(i, in, out, scale, op.grid), op.rounding));
      // Not a number where the scale is too small for a float.
      const int k = at > 0 ? static_cast<int>(std::min(at, last)) : 0;
      list.push_back({k, k, 0});
    } else {
      const double at = std::min(std::max(source<double>(i, in, out, scale, op.grid), 0.0), last);
      const int low = static_cast<int>(at);
      list.push_back(
          {low, std::min(low + 1, static_cast<int>(in - 1)), static_cast<float>(at - low)});
    }
  }
  return list;
}

struct ResizeKernel : Kernel {
  Input x;
  int y = -1, threads = 1;
  ImageDims in, out;
  bool bilinear = false;
  std::vector<Tap> rows, cols;
  Posts posts;
  ResizeKernel(const Value& a, const Value& b) : x(a), y(b.slot()), in(a), out(b) {}

  Status run(const Run& r) override {
    const float* src = x.ptr<float>(r);
    float* dst = r.ptr<float>(y);
    const int64_t items = out.n * ceil_div(out.c, kLanes) * out.h;
    const int64_t tasks = task_count(items, static_cast<double>(out.w) * 3, threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(items, task, tasks);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const float* plane = src + i / out.h * in.pixels() * kLanes;
        const Tap& t = rows[static_cast<size_t>(i % out.h)];
        const int64_t at = i * out.w * kLanes;
        row(plane + t.low * in.w * kLanes, plane + t.high * in.w * kLanes, t.weight, dst + at);
        posts.apply(r, dst + at, out.w * kLanes, at);
      }
    });
    return ok();
  }
  void row(const float* top, const float* bottom, float weight, float* dst) const {
    if (!bilinear) {
      for (const Tap& t : cols) {
        store(dst, load(top + t.low * kLanes));
        dst += kLanes;
      }
      return;
    }
    for (const Tap& t : cols) {
      const float u = t.weight, v = weight;
      const vf a = load(top + t.low * kLanes) * (1.f - u) + load(top + t.high * kLanes) * u;
      const vf b = load(bottom + t.low * kLanes) * (1.f - u) + load(bottom + t.high * kLanes) * u;
      store(dst, a * (1.f - v) + b * v);
      dst += kLanes;
    }
  }
};

void supports(const Node& node, Support& s) {
  if (!is_float(node.input(0))) return s.no("float32 only");
  s.yes(blocked(kLanes), blocked(kLanes));
}

MadeKernel make(const Context& c, const Node& node) {
  const auto op = node.attrs<ops::Resize>();
  auto k = std::make_unique<ResizeKernel>(node.input(0), node.output(0));
  k->threads = c.threads();
  k->bilinear = op.mode == "bilinear";
  auto scale = [&](size_t i, int64_t in, int64_t out) {
    return op.scale.empty() ? static_cast<double>(out) / static_cast<double>(in) : op.scale[i];
  };
  k->rows = taps(op, k->in.h, k->out.h, scale(0, k->in.h, k->out.h));
  k->cols = taps(op, k->in.w, k->out.w, scale(1, k->in.w, k->out.w));
  FV_ASSIGN(k->posts, Posts::make(node, node.output(0)));
  return made(std::move(k));
}

}  // namespace

void define_resize(Kernels& k) { FV_KERNEL(k, "resize", supports, make, fuses_pointwise); }

}  // namespace FV_ISA
}  // namespace foveal::cpu
