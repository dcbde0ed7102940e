// Integer arithmetic, comparisons, logic and where: scalar loops over plain tensors. Shape
// computations and masks need them; none is hot.
#include "generic/elementwise.h"

#include <cmath>

#include "generic/broadcast.h"
#include "ops/binary.h"

namespace foveal::cpu {
namespace {

using Loop = void (*)(void* y, const void* a, int64_t sa, const void* b, int64_t sb, int64_t n);

// Integers wrap; dividing by zero gives 0 rather than a trap.
template <class T>
using Wide = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::make_unsigned_t<std::conditional_t<std::is_floating_point_v<T>, int, T>>>;
template <class T>
T v_max_nan(T a, T b) {
  return a != a || a > b ? a : b;
}
template <class T>
T v_min_nan(T a, T b) {
  return a != a || a < b ? a : b;
}
template <class T>
T negative(T a) {
  return static_cast<T>(Wide<T>(0) - static_cast<Wide<T>>(a));
}
template <class T>
T quotient(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a / b;
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return negative(a);
  return static_cast<T>(a / b);
}
template <class T>
T modulo(T a, T b) {  // sign of b
  if constexpr (std::is_floating_point_v<T>) {
    return a - b * std::floor(a / b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return 0;
      const T r = static_cast<T>(a % b);
      return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
    }
    return static_cast<T>(a % b);
  }
}
template <class T>
T power(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else {
    if (std::is_signed_v<T> && b < 0) return a == 1 ? 1 : a == T(-1) ? (b % 2 ? a : T(1)) : 0;
    Wide<T> r = 1, base = static_cast<Wide<T>>(a);
    for (auto e = static_cast<Wide<T>>(b); e;
         e >>= 1, base = static_cast<Wide<T>>(uint64_t{base} * base))
      if (e & 1) r = static_cast<Wide<T>>(uint64_t{r} * base);
    return static_cast<T>(r);
  }
}
template <class T>
T product(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <class T>
T sum(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
}
template <class T>
T difference(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
}

template <class T>
T squared_difference(T a, T b) {
  return product(difference(a, b), difference(a, b));
}

template <class T, class R, auto f>
void loop(void* y, const void* a, int64_t sa, const void* b, int64_t sb, int64_t n) {
  auto* out = static_cast<R*>(y);
  const auto *x = static_cast<const T*>(a), *z = static_cast<const T*>(b);
  for (int64_t i = 0; i < n; ++i) out[i] = f(x[i * sa], z[i * sb]);
}
template <class T>
Loop arithmetic(const std::string& op) {
#define FV_FIND(name, f) \
  if (FV_HAS_OPERATOR(name) && op == name) return loop<T, T, f>
  FV_FIND("add", sum<T>);
  FV_FIND("sub", difference<T>);
  FV_FIND("mul", product<T>);
  FV_FIND("div", quotient<T>);
  FV_FIND("max", v_max_nan<T>);
  FV_FIND("min", v_min_nan<T>);
  FV_FIND("pow", power<T>);
  FV_FIND("mod", modulo<T>);
  FV_FIND("squared_difference", squared_difference<T>);
#undef FV_FIND
  return nullptr;
}
template <class T>
Loop compare(const std::string& op) {
#define FV_ROW(name, doc, expression)        \
  if (FV_HAS_OPERATOR(#name) && op == #name) \
    return loop<T, uint8_t, [](T a, T b) { return static_cast<uint8_t>(expression); }>;
  FV_COMPARE_OPS(FV_ROW)
#undef FV_ROW
  return nullptr;
}
Loop logical(const std::string& op) {
#define FV_ROW(id, name, doc, expression)  \
  if (FV_HAS_OPERATOR(name) && op == name) \
    return loop<uint8_t, uint8_t,          \
                [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(expression); }>;
  FV_LOGICAL_OPS(FV_ROW)
#undef FV_ROW
  return nullptr;
}

Loop find(const Node& node) {
  const std::string op = node.op();
  const fv_dtype in = node.input(0).dtype();
  if (in == FV_BOOL)
    if (Loop f = logical(op)) return f;
  Loop f = nullptr;
  auto pick = [&](auto zero) {
    using T = decltype(zero);
    f = compare<T>(op);
    if constexpr (!std::is_same_v<T, float>)
      if (!f) f = arithmetic<T>(op);
  };
  if (in == FV_FLOAT32)
    pick(float{});
  else if (in == FV_BOOL)
    f = compare<uint8_t>(op);
  else
    with_number_type(in, pick);
  return f;
}

struct Elementwise : Kernel {
  Loop loop;
  Broadcast shape;
  Input a, b;
  int y;
  size_t size_in, size_out;
  Status run(const Run& r) override {
    const char *pa = a.ptr<char>(r), *pb = b.ptr<char>(r);
    char* out = r.ptr<char>(y);
    shape.each([&](int64_t at, const int64_t* offset, const int64_t* step, int64_t n) {
      loop(out + at * static_cast<int64_t>(size_out),
           pa + offset[0] * static_cast<int64_t>(size_in), step[0],
           pb + offset[1] * static_cast<int64_t>(size_in), step[1], n);
    });
    return ok();
  }
};

void supports(const Node& node, Support& s) {
  if (!find(node)) return s.no(format("no kernel for %s", dtype_name(node.input(0).dtype())));
  s.yes();
}

MadeKernel make(const Context&, const Node& node) {
  auto k = std::make_unique<Elementwise>();
  const Value a = node.input(0), b = node.input(1), y = node.output(0);
  k->loop = find(node);
  if (!k->loop) return unsupported("no kernel for this type");
  k->shape = Broadcast(y.dims(), {a.dims(), b.dims()});
  k->a = Input(a), k->b = Input(b), k->y = y.slot();
  k->size_in = dtype_size(a.dtype()), k->size_out = dtype_size(y.dtype());
  return made(std::move(k));
}

// Unary operators that have a meaning in whole numbers, as loops over (a, a).
template <class T>
Loop unary(const std::string& op) {
  if (op == "relu") return loop<T, T, [](T a, T) { return a < 0 ? T(0) : a; }>;
  if (op == "neg") return loop<T, T, [](T a, T) { return negative(a); }>;
  if (op == "abs") return loop<T, T, [](T a, T) { return a < 0 ? negative(a) : a; }>;
  if (op == "sign") return loop<T, T, [](T a, T) { return T((a > 0) - (a < 0)); }>;
  return nullptr;
}
Loop find_unary_loop(const Node& node) {
  Loop f = nullptr;
  with_number_type(node.input(0).dtype(), [&](auto zero) {
    if constexpr (std::is_integral_v<decltype(zero)>) f = unary<decltype(zero)>(node.op());
  });
  return f;
}

struct IntegerUnary : Kernel {
  Loop loop;
  Input x;
  int y;
  int64_t count;
  Status run(const Run& r) override {
    const void* a = x.ptr<void>(r);
    loop(r.ptr<void>(y), a, 1, a, 1, count);
    return ok();
  }
};

struct Not : Kernel {
  Input x;
  int y;
  int64_t count;
  Status run(const Run& r) override {
    const auto* src = x.ptr<uint8_t>(r);
    auto* dst = r.ptr<uint8_t>(y);
    for (int64_t i = 0; i < count; ++i) dst[i] = !src[i];
    return ok();
  }
};
MadeKernel make_not(const Context&, const Node& node) {
  auto k = std::make_unique<Not>();
  k->x = Input(node.input(0));
  k->y = node.output(0).slot();
  k->count = node.output(0).count();
  return made(std::move(k));
}

struct Where : Kernel {
  Broadcast shape;
  Input condition, a, b;
  int y;
  size_t size;
  template <class T>
  void walk(const Run& r) const {
    const auto* c = condition.ptr<uint8_t>(r);
    const T *pa = a.ptr<T>(r), *pb = b.ptr<T>(r);
    T* out = r.ptr<T>(y);
    shape.each([&](int64_t at, const int64_t* o, const int64_t* s, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        out[at + i] = c[o[0] + i * s[0]] ? pa[o[1] + i * s[1]] : pb[o[2] + i * s[2]];
    });
  }
  Status run(const Run& r) override {
    size == 1   ? walk<uint8_t>(r)
    : size == 2 ? walk<uint16_t>(r)
    : size == 4 ? walk<uint32_t>(r)
                : walk<uint64_t>(r);
    return ok();
  }
};
MadeKernel make_where(const Context&, const Node& node) {
  auto k = std::make_unique<Where>();
  const Value y = node.output(0);
  k->shape =
      Broadcast(y.dims(), {node.input(0).dims(), node.input(1).dims(), node.input(2).dims()});
  k->condition = Input(node.input(0));
  k->a = Input(node.input(1)), k->b = Input(node.input(2));
  k->y = y.slot();
  k->size = dtype_size(y.dtype());
  return made(std::move(k));
}

void supports_plain(const Node&, Support& s) { s.yes(); }

}  // namespace

bool arithmetic_type(fv_dtype t) {
  return with_number_type(t, [](auto) {});
}
MadeKernel make_arithmetic(const Context& c, const Node& node) { return make(c, node); }

bool has_integer_unary(const Node& node) { return find_unary_loop(node); }
MadeKernel make_integer_unary(const Context&, const Node& node) {
  auto k = std::make_unique<IntegerUnary>();
  k->loop = find_unary_loop(node);
  if (!k->loop) return unsupported("no kernel for this type");
  k->x = Input(node.input(0));
  k->y = node.output(0).slot();
  k->count = node.output(0).count();
  return made(std::move(k));
}

void define_elementwise(Kernels& k) {
#define FV_ROW(name, ...) FV_KERNEL(k, #name, supports, make, nullptr);
  FV_COMPARE_OPS(FV_ROW)
#undef FV_ROW
#define FV_ROW(id, name, ...) FV_KERNEL(k, name, supports, make, nullptr);
  FV_LOGICAL_OPS(FV_ROW)
#undef FV_ROW
  FV_KERNEL(k, "not", supports_plain, make_not, nullptr);
  FV_KERNEL(k, "where", supports_plain, make_where, nullptr);
}

}  // namespace foveal::cpu
