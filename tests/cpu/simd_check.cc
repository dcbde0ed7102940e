// sdk_core/base/simd.h and simd_math.h against the C library in double, over samples of every
// float. Compiled once per instruction set by test_isas.py; prints what is wrong.
#include <cmath>
#include <cstdio>

#include "base/simd_math.h"

using namespace foveal::simd;

namespace {

int failures = 0;

void fail(const char* name, float x, float got, double want) {
  if (++failures <= 20) std::printf("%s(%.9g) = %.9g, expected %.9g\n", name, x, got, want);
}

bool close(float got, double want, double tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (static_cast<float>(want) == got) return true;  // infinities, overflow, underflow to zero
  const double scale = std::fmax(std::fabs(want), 1.2e-38);
  return std::fabs(got - want) / scale <= tolerance;
}

// f: works on vectors and on floats; g: the truth in double.
template <class F, class G>
void check(const char* name, F f, G g, double tolerance) {
  constexpr uint32_t kStep = 9973;  // samples all exponents, both signs, subnormals, NaN
  for (uint64_t i = 0; i < (uint64_t{1} << 32); i += uint64_t{kStep} * kLanes) {
    float x[kLanes], y[kLanes];
    for (int k = 0; k < kLanes; ++k)
      x[k] = from_bits(static_cast<int32_t>(static_cast<uint32_t>(i + uint64_t{kStep} * k)));
    store(y, f(load(x)));
    for (int k = 0; k < kLanes; ++k)
      if (!close(y[k], g(static_cast<double>(x[k])), tolerance)) fail(name, x[k], y[k], g(x[k]));
    const float scalar = f(x[0]);
    if (!close(scalar, g(static_cast<double>(x[0])), tolerance)) fail(name, x[0], scalar, g(x[0]));
  }
  for (float x :
       {0.f, -0.f, 1.f, -1.f, 0.5f, 1.5f, 2.5f, -2.5f, kInf, -kInf, kNaN, 3.4e38f, 1e-45f}) {
    const vf y = f(splat(x));
    if (!close(y[0], g(static_cast<double>(x)), tolerance)) fail(name, x, y[0], g(x));
  }
}

void check_lanes() {
  vf rows[kLanes];
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < kLanes; ++j) rows[i][j] = static_cast<float>(100 * i + j);
  transpose(rows);
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < kLanes; ++j)
      if (rows[i][j] != static_cast<float>(100 * j + i))
        fail("transpose", 0, rows[i][j], 100 * j + i);
  float memory[2 * kLanes] = {};
  for (int i = 0; i < 2 * kLanes; ++i) memory[i] = static_cast<float>(i);
  const vf even = even_lanes(load(memory), load(memory + kLanes));
  for (int i = 0; i < kLanes; ++i)
    if (even[i] != static_cast<float>(2 * i)) fail("even_lanes", 0, even[i], 2 * i);
  const vf part = load_n(memory + 1, 3);
  if (part[0] != 1 || part[2] != 3 || part[kLanes - 1] != (kLanes == 3 ? 3 : 0))
    fail("load_n", 0, part[0], 1);
  if (sum_lanes(load(memory)) != static_cast<float>(kLanes * (kLanes - 1) / 2))
    fail("sum_lanes", 0, sum_lanes(load(memory)), 0);
  if (max_lanes(load(memory)) != kLanes - 1 || min_lanes(load(memory)) != 0)
    fail("max_lanes", 0, max_lanes(load(memory)), kLanes - 1);
  const vf nan = splat(kNaN), one = splat(1);
  if (v_max(nan, one)[0] == v_max(nan, one)[0]) fail("v_max(NaN, 1)", 0, v_max(nan, one)[0], kNaN);
  for (const vf& v :
       {v_max_nan(nan, one), v_max_nan(one, nan), v_min_nan(nan, one), v_min_nan(one, nan)})
    if (v[0] == v[0]) fail("v_max_nan", 0, v[0], kNaN);
}

}  // namespace

#define CHECK(name, truth, tolerance)                                                      \
  check(                                                                                   \
      #name, [](auto x) { return v_##name(x); }, [](double x) -> double { return truth; }, \
      tolerance)

int main() {
  check_lanes();
  CHECK(exp, std::exp(x), 2e-6);
  CHECK(expm1, std::expm1(x), 2e-6);
  CHECK(log, std::log(x), 2e-6);
  CHECK(log1p, std::log1p(x), 2e-6);
  CHECK(sigmoid, x > -700 ? 1 / (1 + std::exp(-x)) : std::exp(x), 2e-6);
  CHECK(tanh, std::tanh(x), 2e-6);
  CHECK(erf, std::erf(x), 2e-6);
  CHECK(softplus, x > 30 ? x + std::exp(-x) : std::log1p(std::exp(x)), 2e-6);
  CHECK(sin, std::sin(x), 2e-6);
  CHECK(cos, std::cos(x), 2e-6);
  CHECK(rsqrt, 1 / std::sqrt(x), 2e-6);
  CHECK(floor, std::floor(x), 0);
  CHECK(ceil, std::ceil(x), 0);
  CHECK(round, std::nearbyint(x), 0);
  CHECK(trunc, std::trunc(x), 0);
  CHECK(sign, std::isnan(x) ? x : (x > 0) - (x < 0), 0);
  std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
