// Every row of ops/unary.h, and chains of pointwise operators fused behind one.
#include "common/posts.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

constexpr int64_t kChunk = 4096;  // floats: a chain's intermediate values stay in L1

struct UnaryKernel : Kernel {
  Unary f;
  Input x;
  int y = -1, threads = 1;
  int64_t count = 0;
  Posts posts;

  Status run(const Run& r) override {
    const float* src = x.ptr<float>(r);
    float* dst = r.ptr<float>(y);
    const int64_t chunks = ceil_div(count, kChunk);
    const int64_t tasks = task_count(chunks, kChunk, threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(chunks, task, tasks);
      for (int64_t i = range.begin * kChunk; i < std::min(range.end * kChunk, count); i += kChunk) {
        const int64_t n = std::min(kChunk, count - i);
        f(dst + i, src + i, n);
        posts.apply(r, dst + i, n, i);
        if (posts.empty()) posts.zero_padding(dst + i, n, i);
      }
    });
    return ok();
  }
};

void supports(const Node& node, Support& s) {
  if (!is_float(node.input(0))) return s.no("float32 only");
  s.yes(kAny, kAny);
  allow_in_place(node, s, 0);
}

MadeKernel make(const Context& c, const Node& node) {
  auto k = std::make_unique<UnaryKernel>();
  const Value x = node.input(0), y = node.output(0);
  if (!same_layout(x.layout(), y.layout()))
    return Status(FV_INTERNAL,
                  "input is " + to_string(x.layout()) + ", output is " + to_string(y.layout()));
  k->f = find_unary(node);
  k->x = Input(x);
  k->y = y.slot();
  k->count = physical_count(y);
  k->threads = c.threads();
  FV_ASSIGN(k->posts, Posts::make(node, y));
  return made(std::move(k));
}

}  // namespace

void define_unary(Kernels& k) {
  for (const char* name : unary_names()) k.push_back({name, supports, make, fuses_pointwise});
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
