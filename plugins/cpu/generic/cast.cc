// cast between all element types, and gather.
#include "ops/cast.h"

#include "common/cpu.h"
#include "ops/gather.h"

namespace foveal::cpu {
namespace {

struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

float bits_to_float(uint32_t b) {
  float f;
  std::memcpy(&f, &b, 4);
  return f;
}
uint32_t float_to_bits(float f) {
  uint32_t b;
  std::memcpy(&b, &f, 4);
  return b;
}

float widen(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000) << 16;
  const uint32_t rest = h.bits & 0x7fff;
  if (rest >= 0x7c00) return bits_to_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest >= 0x0400) return bits_to_float(sign | ((rest << 13) + (112u << 23)));
  const float subnormal = static_cast<float>(rest) * 0x1p-24f;
  return bits_to_float(sign | float_to_bits(subnormal));
}
float widen(Brain b) { return bits_to_float(static_cast<uint32_t>(b.bits) << 16); }
uint8_t widen(Bool b) { return b.value != 0; }
template <class T>
T widen(T v) {
  return v;
}

// Round to nearest, ties to even.
Half narrow_half(float f) {
  const uint32_t b = float_to_bits(f), sign = b >> 16 & 0x8000, a = b & 0x7fffffff;
  if (a > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
  if (a >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};
  if (a < 0x38800000) {  // subnormal: let the adder round at 2^-24
    const float r = bits_to_float(a) + 0.5f;
    return {static_cast<uint16_t>(sign | (float_to_bits(r) - float_to_bits(0.5f)))};
  }
  const uint32_t rounded = a - (112u << 23) + 0xfff + (a >> 13 & 1);
  return {static_cast<uint16_t>(sign | rounded >> 13)};
}
Brain narrow_brain(float f) {
  const uint32_t b = float_to_bits(f);
  if ((b & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>(b >> 16 | 0x40)};
  return {static_cast<uint16_t>((b + 0x7fff + (b >> 16 & 1)) >> 16)};
}

template <class To, class From>
To convert(From from) {
  const auto v = widen(from);
  using V = std::remove_const_t<decltype(v)>;
  if constexpr (std::is_same_v<To, Half>) {
    return narrow_half(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, Brain>) {
    return narrow_brain(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return {static_cast<uint8_t>(v != V(0))};
  } else if constexpr (std::is_floating_point_v<V> && std::is_integral_v<To>) {
    // Beyond 64 bits a cast would be undefined: the nearest limit; NaN as processors do.
    if (std::is_same_v<To, uint64_t> && v >= V(9223372036854775808.0))
      return static_cast<To>(v < V(18446744073709551616.0) ? static_cast<uint64_t>(v)
                                                           : ~uint64_t{0});
    const bool fits = v >= V(-9223372036854775808.0) && v < V(9223372036854775808.0);
    return static_cast<To>(fits ? static_cast<int64_t>(v) : v > V(0) ? INT64_MAX : INT64_MIN);
  } else {
    return static_cast<To>(v);
  }
}

using Loop = void (*)(void* y, const void* x, int64_t n);
template <class To, class From>
void loop(void* y, const void* x, int64_t n) {
  auto* to = static_cast<To*>(y);
  const auto* from = static_cast<const From*>(x);
  for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

template <class F>
Loop with_type(fv_dtype t, F&& f) {
  switch (t) {
    case FV_FLOAT32:
      return f(float{});
    case FV_FLOAT16:
      return f(Half{});
    case FV_BFLOAT16:
      return f(Brain{});
    case FV_FLOAT64:
      return f(double{});
    case FV_INT8:
      return f(int8_t{});
    case FV_UINT8:
      return f(uint8_t{});
    case FV_INT16:
      return f(int16_t{});
    case FV_UINT16:
      return f(uint16_t{});
    case FV_INT32:
      return f(int32_t{});
    case FV_UINT32:
      return f(uint32_t{});
    case FV_INT64:
      return f(int64_t{});
    case FV_UINT64:
      return f(uint64_t{});
    case FV_BOOL:
      return f(Bool{});
    default:
      return nullptr;
  }
}
Loop find(fv_dtype from, fv_dtype to) {
  return with_type(from, [&](auto x) {
    return with_type(to, [&](auto y) -> Loop { return loop<decltype(y), decltype(x)>; });
  });
}

struct CastKernel : Kernel {
  Loop convert;
  Input x;
  int y, threads;
  size_t from, to;
  int64_t count;
  Status run(const Run& r) override {
    const char* src = x.ptr<char>(r);
    char* dst = r.ptr<char>(y);
    const int64_t chunk = 4096, chunks = ceil_div(count, chunk);
    const int64_t tasks = task_count(chunks, chunk, threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(chunks, task, tasks);
      const int64_t begin = range.begin * chunk, end = std::min(range.end * chunk, count);
      convert(dst + begin * static_cast<int64_t>(to), src + begin * static_cast<int64_t>(from),
              end - begin);
    });
    return ok();
  }
};

void supports_cast(const Node& node, Support& s) {
  if (!find(node.input(0).dtype(), node.output(0).dtype())) return s.no("unknown element type");
  s.yes();
}
MadeKernel make_cast(const Context& c, const Node& node) {
  auto k = std::make_unique<CastKernel>();
  const Value x = node.input(0), y = node.output(0);
  k->convert = find(x.dtype(), y.dtype());
  if (!k->convert) return unsupported("unknown element type");
  k->x = Input(x);
  k->y = y.slot();
  k->threads = c.threads();
  k->from = dtype_size(x.dtype()), k->to = dtype_size(y.dtype());
  k->count = y.count();
  return made(std::move(k));
}

struct GatherKernel : Kernel {
  Input x, indices;
  int y;
  bool wide;
  int64_t outer = 1, length = 1, count = 1;
  size_t inner_bytes = 1;
  Status run(const Run& r) override {
    const char* src = x.ptr<char>(r);
    char* dst = r.ptr<char>(y);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t given = wide ? indices.ptr<int64_t>(r)[i] : indices.ptr<int32_t>(r)[i];
      const int64_t k = given < 0 ? given + length : given;
      if (k < 0 || k >= length)
        return Status(FV_SHAPE_ERROR,
                      format("index %lld is outside [%lld, %lld)", static_cast<long long>(given),
                             static_cast<long long>(-length), static_cast<long long>(length)),
                      "check the values that the indices are computed from", "gather");
      for (int64_t o = 0; o < outer; ++o)
        std::memcpy(dst + static_cast<size_t>(o * count + i) * inner_bytes,
                    src + static_cast<size_t>(o * length + k) * inner_bytes, inner_bytes);
    }
    return ok();
  }
};
void supports_gather(const Node& node, Support& s) {
  if (node.input(1).is_constant()) return s.no("constant indices are lowered to raster");
  s.yes();
}
MadeKernel make_gather(const Context&, const Node& node) {
  auto k = std::make_unique<GatherKernel>();
  const Value x = node.input(0), indices = node.input(1);
  FV_ASSIGN(const int axis, resolve_axis(node.attrs<ops::Gather>().axis, x.rank()));
  k->x = Input(x), k->indices = Input(indices);
  k->y = node.output(0).slot();
  k->wide = indices.dtype() == FV_INT64;
  for (int i = 0; i < axis; ++i) k->outer *= x.dim(i);
  k->length = x.dim(axis);
  k->count = indices.count();
  k->inner_bytes = dtype_size(x.dtype());
  for (int i = axis + 1; i < x.rank(); ++i) k->inner_bytes *= static_cast<size_t>(x.dim(i));
  return made(std::move(k));
}

}  // namespace

void define_cast(Kernels& k) {
  FV_KERNEL(k, "cast", supports_cast, make_cast, nullptr);
  FV_KERNEL(k, "gather", supports_gather, make_gather, nullptr);
}

}  // namespace foveal::cpu
