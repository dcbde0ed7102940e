#ifndef FOVEAL_OPS_MATMUL_H_
#define FOVEAL_OPS_MATMUL_H_

#include "ops/window.h"

namespace foveal::ops {

struct Matmul {
  static constexpr OpInfo kInfo{
      "matmul", 1, "a, b, bias?", "y",
      "Matrix product [..., M, K] x [..., K, N] by numpy's rules for batches and vectors, plus a "
      "bias that broadcasts to the result."};
  bool transpose_a = false;
  bool transpose_b = false;

  template <class V>
  void fields(V& v) {
    v("transpose_a", transpose_a, "swap the last two dimensions of a (rank >= 2)");
    v("transpose_b", transpose_b, "swap the last two dimensions of b (rank >= 2)");
  }

  Status infer(InferContext& c) const {
    FV_TRY(expect_same_dtype(c, 0, 1));
    Dims a = c.in(0).dims, b = c.in(1).dims;
    if (a.empty() || b.empty())
      return shape_error("inputs have shapes " + to_string(a) + " and " + to_string(b) +
                         ", expected rank >= 1");
    const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
    if (vector_a) a.insert(a.begin(), 1);
    if (vector_b) b.push_back(1);
    if (transpose_a && !vector_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
    if (transpose_b && !vector_b) std::swap(b[b.size() - 1], b[b.size() - 2]);
    const int64_t ka = a.back(), kb = b[b.size() - 2];
    if (ka != kUnknown && kb != kUnknown && ka != kb)
      return shape_error("inner dimensions " + std::to_string(ka) + " and " + std::to_string(kb) +
                             " of " + to_string(c.in(0).dims) + " x " + to_string(c.in(1).dims) +
                             " differ",
                         "check transpose_a and transpose_b");
    FV_ASSIGN(Dims out, broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2)));
    if (!vector_a) out.push_back(a[a.size() - 2]);
    if (!vector_b) out.push_back(b.back());
    if (c.has(2)) {
      FV_TRY(expect_same_dtype(c, 0, 2));
      FV_ASSIGN(const Dims with_bias, broadcast(out, c.in(2).dims));
      if (with_bias.size() != out.size() ||
          (is_concrete(out) && is_concrete(with_bias) && with_bias != out))
        return shape_error("bias " + to_string(c.in(2).dims) +
                           " does not broadcast to the output " + to_string(out));
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }

  double macs(const std::vector<TensorType>& in, const std::vector<TensorType>& out) const {
    const Dims& a = in[0].dims;
    const int64_t k = transpose_a && a.size() > 1 ? a[a.size() - 2] : a.back();
    return static_cast<double>(element_count(out[0].dims)) * static_cast<double>(k);
  }
};

inline void define_matmul(OpTable& t) { t.add<Matmul>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_MATMUL_H_
