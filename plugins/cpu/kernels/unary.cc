// Every row of ops/unary.h, and chains of pointwise operators fused behind one.
// Integers take the scalar loops of generic/elementwise.h.
#include "common/chunked.h"
#include "generic/elementwise.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

struct UnaryKernel : ChunkedKernel {
  Unary f;
  Input x;

  Status run(const Run& r) override {
    const float* src = x.ptr<float>(r);
    return run_chunks(r, [&](float* dst, int64_t i, int64_t n) { f(dst, src + i, n); });
  }
};

void supports(const Node& node, Support& s) {
  const Value x = node.input(0);
  if (is_float(x))
    s.yes(kAny, kAny);
  else if (has_integer_unary(node))
    s.yes();
  else
    return s.no("float32 only");
  allow_in_place(node, s, 0);
}

MadeKernel make(const Context& c, const Node& node) {
  if (!is_float(node.input(0))) return make_integer_unary(c, node);
  auto k = std::make_unique<UnaryKernel>();
  const Value x = node.input(0), y = node.output(0);
  if (!same_layout(x.layout(), y.layout()))
    return Status(FV_INTERNAL,
                  "input is " + to_string(x.layout()) + ", output is " + to_string(y.layout()));
  k->f = find_unary(node);
  k->x = Input(x);
  FV_TRY(k->prepare(c, node));
  return made(std::move(k));
}

}  // namespace

void define_unary(Kernels& k) {
  for (const char* name : unary_names())
    if (has_operator(name)) k.push_back({name, supports, make, fuses_pointwise});
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
