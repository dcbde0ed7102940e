// What every kernel of this plugin includes.
//
// One source, several instruction sets: the files in kernels/ and common/ are compiled once per
// ISA and live in an inline namespace named after it; those in generic/ are compiled once, for the
// lowest. Linking relies on order: see CMakeLists.txt before adding code outside of FV_ISA.
//
// Padding lanes (channels past C in NCxHWx): every kernel writes zeros there, as types.h promises,
// and no kernel relies on finding them, except where it says so.
#ifndef FOVEAL_CPU_COMMON_CPU_H_
#define FOVEAL_CPU_COMMON_CPU_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/selection.h"
#include "foveal/plugin.hpp"

#define FV_TEXT_(x) #x
#define FV_TEXT(x) FV_TEXT_(x)
#define FV_ISA_NAME FV_TEXT(FV_ISA)

namespace foveal::cpu {

using plugin::Context;
using plugin::Kernel;
using plugin::KernelDef;
using plugin::MadeKernel;
using plugin::Node;
using plugin::Run;
using plugin::Support;
using plugin::Value;

using Kernels = std::vector<KernelDef>;
// Adds one to the list `k`, unless the build leaves the operator out.
#define FV_KERNEL(k, name, ...) \
  if (FV_HAS_OPERATOR(name)) (k).push_back({name, __VA_ARGS__})

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline bool is_blocked(fv_layout l) { return l.id == FV_LAYOUT_NCXHWX; }
inline bool is_float(const Value& v) { return v.dtype() == FV_FLOAT32; }

// A tensor at run time: a constant, or a buffer of the run.
struct Input {
  const void* constant = nullptr;
  int slot = -1;
  Input() = default;
  explicit Input(const Value& v) : constant(v.constant<void>()), slot(v.slot()) {}
  template <class T>
  const T* ptr(const Run& r) const {
    return constant ? static_cast<const T*>(constant) : r.ptr<const T>(slot);
  }
};

// Owned, FV_ALIGNMENT-aligned floats, zero at first. data() is NULL when memory ran out.
class Floats64 {
 public:
  Floats64() = default;
  explicit Floats64(size_t count) : memory_(aligned_new(count * sizeof(float))), size_(count) {
    if (memory_) std::memset(memory_.get(), 0, count * sizeof(float));
  }
  float* data() { return static_cast<float*>(memory_.get()); }
  const float* data() const { return static_cast<const float*>(memory_.get()); }
  size_t size() const { return size_; }

 private:
  AlignedBuffer memory_;
  size_t size_ = 0;
};

inline Status no_memory() { return Status(FV_OUT_OF_MEMORY, "out of memory while preparing"); }
inline Status unsupported(std::string why) { return Status(FV_UNSUPPORTED_OP, std::move(why)); }

template <class K>
MadeKernel made(std::unique_ptr<K> kernel) {
  return std::unique_ptr<Kernel>(std::move(kernel));
}

// How many tasks to make of `items` equal pieces of work: one while all of it is small, else about
// four per thread. `cost` is the work of one item, in vector operations or thereabouts.
inline int64_t task_count(int64_t items, double cost, int threads) {
  const double total = static_cast<double>(items) * cost;
  if (threads <= 1 || items <= 1 || total < 40000) return 1;
  const int64_t worth = std::max<int64_t>(1, static_cast<int64_t>(total / 20000));
  return std::min({items, worth, static_cast<int64_t>(threads) * 4});
}
// Piece `task` of [0, items): [begin, end).
struct Range {
  int64_t begin, end;
};
inline Range slice_of(int64_t items, int64_t task, int64_t tasks) {
  return {items * task / tasks, items * (task + 1) / tasks};
}

// Sizes of an image tensor: H and W are the last two dimensions; rank 3 counts as H = 1.
struct ImageDims {
  int64_t n, c, h, w;
  explicit ImageDims(const Value& v)
      : n(v.dim(0)), c(v.dim(1)), h(v.rank() > 3 ? v.dim(2) : 1), w(v.dim(v.rank() - 1)) {}
  int64_t pixels() const { return h * w; }
};

}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_CPU_H_
