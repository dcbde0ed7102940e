// Maximum and mean over sliding windows, one vector a pixel.
#include "ops/pool2d.h"

#include "common/posts.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

// Taps of one output along one axis: input positions first, first + step, ... (count of them),
// all inside the image; `divisor` counts those an average divides by.
struct Window {
  int first, count, divisor;
};
std::vector<Window> windows(int64_t out, int64_t in, int64_t kernel, int64_t stride, int64_t pad,
                            int64_t pad_end, int64_t dilation, bool count_pad) {
  std::vector<Window> list;
  for (int64_t o = 0; o < out; ++o) {
    const int64_t start = o * stride - pad;
    Window w{0, 0, 0};
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t i = start + k * dilation;
      if (i >= 0 && i < in) {
        if (w.count == 0) w.first = static_cast<int>(i);
        ++w.count;
      }
      // A window that ceil pushed over the end does not count what lies past the padding.
      if (count_pad ? i < in + pad_end : i >= 0 && i < in) ++w.divisor;
    }
    list.push_back(w);
  }
  return list;
}

struct Pool : Kernel {
  Input x;
  int y = -1, threads = 1;
  ImageDims in, out;
  bool max = true;
  int64_t dilation_y = 1, dilation_x = 1;
  std::vector<Window> rows, cols;
  Posts posts;
  Pool(const Value& a, const Value& b) : x(a), y(b.slot()), in(a), out(b) {}

  Status run(const Run& r) override {
    const int64_t planes = out.n * ceil_div(out.c, kLanes), items = planes * out.h;
    const float* src = x.ptr<float>(r);
    float* dst = r.ptr<float>(y);
    const double work = static_cast<double>(out.w) * (rows.empty() ? 1 : rows[0].count) *
                        (cols.empty() ? 1 : cols[0].count);
    const int64_t tasks = task_count(items, work, threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(items, task, tasks);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const float* plane = src + i / out.h * in.pixels() * kLanes;
        const int64_t at = i * out.w * kLanes;
        max ? row<true>(plane, rows[static_cast<size_t>(i % out.h)], dst + at)
            : row<false>(plane, rows[static_cast<size_t>(i % out.h)], dst + at);
        posts.apply(r, dst + at, out.w * kLanes, at);
      }
    });
    return ok();
  }

  template <bool is_max>
  void row(const float* plane, const Window& wy, float* dst) const {
    const int64_t down = dilation_y * in.w * kLanes, right = dilation_x * kLanes;
    for (const Window& wx : cols) {
      const float* p = plane + (wy.first * in.w + wx.first) * kLanes;
      // A window wholly in the padding: -inf, as the maximum of nothing; the mean of nothing is 0.
      vf acc = splat(is_max ? -std::numeric_limits<float>::infinity() : 0.f);
      if (is_max && wy.count && wx.count) acc = load(p);
      for (int i = 0; i < wy.count; ++i)
        for (int j = 0; j < wx.count; ++j) {
          const vf v = load(p + i * down + j * right);
          acc = is_max ? v_max_nan(acc, v) : acc + v;
        }
      if (!is_max) acc *= 1.f / static_cast<float>(std::max(1, wy.divisor * wx.divisor));
      store(dst, acc);
      dst += kLanes;
    }
  }
};

void supports(const Node& node, Support& s) {
  if (!is_float(node.input(0))) return s.no("float32 only");
  const auto op = node.attrs<ops::Pool2d>();
  const Value y = node.output(0);
  for (int i = 0; i < 2; ++i) {
    const int64_t taps = checked_mul(y.dim(2 + i), op.kernel[static_cast<size_t>(i)]);
    if (taps < 0 || taps > int64_t{1} << 26) return s.no("window too large");
  }
  s.yes(blocked(kLanes), blocked(kLanes));
}

MadeKernel make(const Context& c, const Node& node) {
  const auto op = node.attrs<ops::Pool2d>();
  const Value x = node.input(0), y = node.output(0);
  auto k = std::make_unique<Pool>(x, y);
  k->threads = c.threads();
  k->max = op.mode == "max";
  k->dilation_y = op.dilation[0], k->dilation_x = op.dilation[1];
  k->rows = windows(k->out.h, k->in.h, op.kernel[0], op.stride[0], op.pad[0], op.pad[2],
                    op.dilation[0], op.count_pad);
  k->cols = windows(k->out.w, k->in.w, op.kernel[1], op.stride[1], op.pad[1], op.pad[3],
                    op.dilation[1], op.count_pad);
  FV_ASSIGN(k->posts, Posts::make(node, y));
  return made(std::move(k));
}

}  // namespace

void define_pool2d(Kernels& k) { FV_KERNEL(k, "pool2d", supports, make, fuses_pointwise); }

}  // namespace FV_ISA
}  // namespace foveal::cpu
