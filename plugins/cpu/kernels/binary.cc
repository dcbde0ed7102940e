// Every arithmetic row of ops/binary.h and prelu, with numpy broadcasting and fused chains.
// Integers take the scalar loops of generic/elementwise.h.
#include "common/chunked.h"
#include "generic/elementwise.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

struct BinaryKernel : ChunkedKernel {
  BinaryFn vv, pv, vp;
  Operand a, b;

  Status run(const Run& r) override {
    const float* pa = a.base(r);
    const float* pb = b.base(r);
    return run_chunks(r, [&](float* dst, int64_t i, int64_t n) {
      alignas(64) float splat_a[kLanes], splat_b[kLanes];
      for (int64_t k = 0; k < n;) {
        const Operand::Piece qa = a.piece(pa, i + k, splat_a), qb = b.piece(pb, i + k, splat_b);
        const int64_t m = std::min({qa.n, qb.n, n - k});
        const BinaryFn f = qa.pattern ? (qb.pattern ? nullptr : pv) : qb.pattern ? vp : vv;
        if (f) {
          f(dst + k, qa.p, qb.p, m);
        } else {  // both repeat: spread a first
          spread(dst + k, qa.p, m);
          vp(dst + k, dst + k, qb.p, m);
        }
        k += m;
      }
    });
  }
  static void spread(float* y, const float* pattern, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = pattern[i % kLanes];
  }
};

// Same rank, a constant, or a scalar: then the operands' layouts follow the output's.
bool any_layout(const Node& node) {
  const Value y = node.output(0);
  for (int i = 0; i < 2; ++i) {
    const Value v = node.input(i);
    if (!v.is_constant() && v.rank() != y.rank() && v.count() != 1) return false;
  }
  // Two constants: plain, for constant folding.
  return y.rank() >= 3 && !(node.input(0).is_constant() && node.input(1).is_constant());
}

void supports(const Node& node, Support& s) {
  const Value y = node.output(0);
  const bool prelu = !std::strcmp(node.op(), "prelu");
  if (!is_float(y) && (prelu || !arithmetic_type(y.dtype())))
    return s.no(format("no kernel for %s", dtype_name(y.dtype())));
  if (is_float(y) && any_layout(node))
    s.yes(kAny, kAny);
  else
    s.yes();
  for (int i = 0; i < 2; ++i)
    if (node.input(i).dims() == y.dims()) allow_in_place(node, s, i);
}

MadeKernel make(const Context& c, const Node& node) {
  const Value y = node.output(0);
  if (!is_float(y)) return make_arithmetic(c, node);
  auto k = std::make_unique<BinaryKernel>();
  k->vv = find_binary(node.op(), false, false);
  k->pv = find_binary(node.op(), true, false);
  k->vp = find_binary(node.op(), false, true);
  FV_ASSIGN(k->a, Operand::make(node.input(0), y));
  FV_ASSIGN(k->b, Operand::make(node.input(1), y));
  FV_TRY(k->prepare(c, node));
  return made(std::move(k));
}

}  // namespace

void define_binary(Kernels& k) {
  for (const char* name : binary_names())
    if (has_operator(name)) k.push_back({name, supports, make, fuses_pointwise});
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
