// C++ over plugin.h: write kernels, get a plugin. Header-only, C++20, no RTTI. Compiled with
// exceptions, no memory for a container is FV_OUT_OF_MEMORY; without, it ends the process.
//
//   struct Relu : plugin::Kernel {
//     int x, y; int64_t n;
//     Status run(const plugin::Run& r) override { ... r.ptr<float>(x) ... }
//   };
//   const plugin::KernelDef kernels[] = {{"relu", relu_supports, relu_make}};
//   const plugin::PluginDef def{"mynpu", "1.0.0", "Me", list_devices, list_kernels};
//   extern "C" FV_PLUGIN_EXPORT const fv_plugin_api* foveal_plugin() {
//     return plugin::api<&def>();
//   }
#ifndef FOVEAL_PLUGIN_HPP_
#define FOVEAL_PLUGIN_HPP_

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/guard.h"
#include "base/status.h"
#include "base/tensor_type.h"
#include "foveal/plugin.h"

namespace foveal::plugin {

// A tensor as a kernel sees it. Cheap to copy; valid as long as the node it came from.
class Value {
 public:
  Value() = default;
  Value(const fv_host* host, const fv_value* value) : value_(value) {
    if (value_) host->value_info(value_, &info_);
  }
  explicit operator bool() const { return value_ != nullptr; }  // false: omitted optional input
  const fv_value* handle() const { return value_; }
  const char* name() const { return info_.name; }
  fv_dtype dtype() const { return info_.dtype; }
  int rank() const { return info_.rank; }
  int64_t dim(int i) const { return info_.dims[i]; }
  Dims dims() const { return Dims(info_.dims, info_.dims + info_.rank); }
  fv_layout layout() const { return info_.layout; }
  bool is_constant() const { return (info_.flags & FV_VALUE_CONSTANT) != 0; }
  int slot() const { return info_.slot; }
  uint64_t bytes() const { return info_.bytes; }
  int64_t count() const { return element_count(dims()); }
  template <class T>
  const T* constant() const {  // plain layout; NULL unless is_constant()
    return static_cast<const T*>(info_.data);
  }

 private:
  const fv_value* value_ = nullptr;
  fv_value_info info_{FV_ABI_INIT(fv_value_info), "", nullptr, 0, 0, 0, {}, {}, -1, 0};
};

class Node {
 public:
  Node(const fv_host* host, const fv_node* node) : host_(host), node_(node) {
    host_->node_info(node_, &info_);
  }
  const char* op() const { return info_.op; }
  const char* name() const { return info_.name; }
  int inputs() const { return info_.inputs; }
  int outputs() const { return info_.outputs; }
  int posts() const { return info_.posts; }
  Value input(int i) const {
    return i < info_.inputs ? Value(host_, host_->node_input(node_, i)) : Value();
  }
  Value output(int i) const { return Value(host_, host_->node_output(node_, i)); }
  fv_post post(int i) const {
    fv_post p{FV_ABI_INIT(fv_post), nullptr, 0, 0};
    host_->node_post(node_, i, &p);
    return p;
  }
  Node post_node(int i) const { return Node(host_, post(i).node); }
  const fv_host* host() const { return host_; }
  const fv_node* handle() const { return node_; }

  // Fills the operator's own struct (sdk_core/ops). The core has set every attribute and checked
  // it against the definition, so nothing is missing or of another type.
  template <class Op>
  Op attrs() const {
    Op op;
    Reader reader{*this};
    op.fields(reader);
    return op;
  }

 private:
  struct Reader {
    const Node& node;
    template <class T>
    void operator()(const char* name, T& field, const char*) {
      fv_attr a{FV_ABI_INIT(fv_attr), 0, 0, 0, nullptr, nullptr, nullptr};
      if (!node.host_->node_attr(node.node_, name, &a)) return;
      if constexpr (std::is_same_v<T, std::string>) {
        if (a.type == FV_ATTR_STRING) field.assign(a.string, a.count);
      } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
        if (a.type == FV_ATTR_INTS) field.assign(a.ints, a.ints + a.count);
      } else if constexpr (std::is_same_v<T, std::vector<double>>) {
        if (a.type == FV_ATTR_FLOATS) field.assign(a.floats, a.floats + a.count);
      } else if constexpr (std::is_floating_point_v<T>) {
        if (a.type == FV_ATTR_FLOAT) field = static_cast<T>(a.floats[0]);
      } else {
        if (a.type == FV_ATTR_INT) field = static_cast<T>(a.ints[0]);
      }
    }
  };
  const fv_host* host_;
  const fv_node* node_;
  fv_node_info info_{FV_ABI_INIT(fv_node_info), "", "", 0, 0, 0, 0};
};

// The answer to supports(): start from yes or no and adjust.
struct Support {
  fv_support* out;
  void no(const std::string& reason) {
    out->supported = 0;
    std::snprintf(out->reason, sizeof(out->reason), "%s", reason.c_str());
  }
  // Works on plain tensors, or on any layout its inputs share if `any_layout`.
  void yes(fv_layout in = kPlain, fv_layout out_layout = kPlain) {
    out->supported = 1;
    out->in_layout = in;
    out->out_layout = out_layout;
  }
  void in_place(int input) { out->in_place |= 1u << input; }
};

// Compile-time services.
struct Context {
  const fv_host* host;
  const fv_segment* segment;

  int threads() const { return host->segment_threads(segment); }
  // See fv_host.packed. `fill` is called as fill(void* dst), at most once per model; it must not
  // allocate, as it runs below frames of the host.
  template <class F>
  const void* packed(const Value& constant, const std::string& key, size_t bytes, F&& fill) const {
    using Fn = std::remove_reference_t<F>;
    return host->packed(
        segment, constant.handle(), key.c_str(), bytes,
        [](void* ctx, void* dst) { (*static_cast<Fn*>(ctx))(dst); },
        const_cast<void*>(static_cast<const void*>(&fill)));
  }
};

// Run-time services.
struct Run {
  const fv_host* host;
  const fv_run* run;
  char* workspace;  // this kernel's own part

  template <class T>
  T* ptr(int slot) const {
    return static_cast<T*>(run->buffers[slot]);
  }
  int threads() const { return host->pool_threads(run->pool); }
  // f(int64_t task, int worker) for every task; returns when all are done.
  template <class F>
  void parallel_for(int64_t tasks, F&& f) const {
    using Fn = std::remove_reference_t<F>;
    if (tasks == 1) return f(int64_t{0}, 0);
    host->parallel_for(
        run->pool, tasks,
        [](void* ctx, int64_t task, int32_t worker) { (*static_cast<Fn*>(ctx))(task, worker); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Status run(const Run& run) = 0;
  size_t workspace = 0;  // bytes of scratch, shared with the other kernels of the segment
};

using MadeKernel = Result<std::unique_ptr<Kernel>>;

// One row of the registry.
struct KernelDef {
  const char* op;
  void (*supports)(const Node&, Support&);
  MadeKernel (*make)(const Context&, const Node&);
  bool (*fuses)(const Node&, const Node& post, int chain_input) = nullptr;  // optional
};

struct PluginDef {
  const char* name;
  const char* version;
  const char* vendor;
  // All devices, unusable ones too, with score 0 and a reason.
  std::vector<fv_device_info> (*devices)();
  // The kernels of one device.
  std::span<const KernelDef> (*kernels)(int device);
};

inline fv_device_info device(const char* name, const char* detail, int score,
                             const char* reason = "") {
  fv_device_info d{FV_ABI_INIT(fv_device_info), {}, {}, {}, score, FV_DEVICE_HOST_MEMORY};
  std::snprintf(d.name, sizeof(d.name), "%s", name);
  std::snprintf(d.detail, sizeof(d.detail), "%s", detail);
  std::snprintf(d.reason, sizeof(d.reason), "%s", reason);
  return d;
}

namespace detail {

struct Plugin {
  const fv_host* host;
  const PluginDef* def;
  std::vector<fv_device_info> devices;
};
struct Backend {
  Plugin* plugin;
  std::span<const KernelDef> kernels;
  const KernelDef* find(const char* op) const {
    for (const KernelDef& k : kernels)
      if (!std::strcmp(k.op, op)) return &k;
    return nullptr;
  }
};
struct Program {
  const fv_host* host;
  struct Step {
    const fv_node* node;
    std::unique_ptr<Kernel> kernel;
  };
  std::vector<Step> steps;
  size_t workspace = 0;
};

inline Plugin* of(fv_plugin* p) { return reinterpret_cast<Plugin*>(p); }
inline Backend* of(fv_backend* b) { return reinterpret_cast<Backend*>(b); }
inline Program* of(fv_program* p) { return reinterpret_cast<Program*>(p); }

// Errors cross the line as objects of the host, not of this library.
inline fv_status* to_host(const fv_host* host, const Status& s) {
  if (s.ok()) return nullptr;
  const fv_status* e = s.get();
  return host->status_new(e->code, e->native, e->op.c_str(), e->message.c_str(), e->hint.c_str());
}

// f() returns a Status. Neither errors nor exceptions of this library cross the line.
template <class F>
fv_status* answer(const fv_host* host, const char* where, F&& f) noexcept {
  return to_host(host, Status(guard(where, f)));
}

template <const PluginDef* def>
fv_status* open(const fv_host* host, fv_plugin** out) {
  return answer(host, def->name, [&] {
    *out = reinterpret_cast<fv_plugin*>(new Plugin{host, def, def->devices()});
    return ok();
  });
}
inline void close(fv_plugin* p) { delete of(p); }
inline int32_t device_count(fv_plugin* p) { return static_cast<int32_t>(of(p)->devices.size()); }
inline void device_info(fv_plugin* p, int32_t i, fv_device_info* out) {
  const uint32_t size = std::min<uint32_t>(out->abi.struct_size, sizeof(fv_device_info));
  std::memcpy(reinterpret_cast<char*>(out) + sizeof(fv_abi),
              reinterpret_cast<const char*>(&of(p)->devices[i]) + sizeof(fv_abi),
              size - sizeof(fv_abi));
}
inline fv_status* backend_create(fv_plugin* p, int32_t device, const fv_option*, size_t,
                                 fv_backend** out) {
  return answer(of(p)->host, of(p)->def->name, [&] {
    *out = reinterpret_cast<fv_backend*>(new Backend{of(p), of(p)->def->kernels(device)});
    return ok();
  });
}
inline void backend_destroy(fv_backend* b) { delete of(b); }
inline void supports(fv_backend* b, const fv_node* n, fv_support* out) {
  const Node node(of(b)->plugin->host, n);
  Support answer{out};
  const bool answered = guard_or(false, [&] {
    const KernelDef* k = of(b)->find(node.op());
    if (k)
      k->supports(node, answer);
    else
      answer.no(format("no kernel for '%s'", node.op()));
    return true;
  });
  if (!answered) out->supported = -1;
}
inline int32_t fuses(fv_backend* b, const fv_node* n, const fv_node* post, int32_t chain_input) {
  const fv_host* host = of(b)->plugin->host;
  const Node node(host, n);
  const KernelDef* k = of(b)->find(node.op());
  if (!k || !k->fuses) return 0;
  return guard_or(-1, [&]() -> int32_t { return k->fuses(node, Node(host, post), chain_input); });
}
inline Status compile_segment(fv_backend* b, const fv_segment* segment, fv_program** out) {
  const fv_host* host = of(b)->plugin->host;
  const Context context{host, segment};
  auto program = std::make_unique<Program>();
  program->host = host;
  for (int32_t i = 0; i < host->segment_size(segment); ++i) {
    const fv_node* handle = host->segment_node(segment, i);
    const Node node(host, handle);
    const KernelDef* k = of(b)->find(node.op());
    if (!k) return Status(FV_UNSUPPORTED_OP, "no such kernel", {}, node.op());
    MadeKernel made = k->make(context, node);
    if (!made.ok()) return std::move(made.status()).within(node.name()).for_op(node.op());
    program->workspace = std::max(program->workspace, made.value()->workspace);
    program->steps.push_back({handle, made.take()});
  }
  *out = reinterpret_cast<fv_program*>(program.release());
  return ok();
}
inline fv_status* compile(fv_backend* b, const fv_segment* segment, fv_program** out) {
  return answer(of(b)->plugin->host, of(b)->plugin->def->name,
                [&] { return compile_segment(b, segment, out); });
}
inline void program_info(fv_program* p, fv_program_info* out) { out->workspace = of(p)->workspace; }
inline void program_destroy(fv_program* p) { delete of(p); }
inline Status run_steps(Program* p, const fv_run* r) {
  const Run context{p->host, r, static_cast<char*>(r->workspace)};
  for (Program::Step& step : p->steps) {
    if (r->trace) p->host->trace_begin(r->trace, step.node);
    Status s = step.kernel->run(context);
    if (r->trace) p->host->trace_end(r->trace, step.node);
    if (!s.ok()) return s;
  }
  return ok();
}
inline fv_status* run(fv_program* handle, const fv_run* r, int32_t* pending) {
  *pending = 0;
  return answer(of(handle)->host, "run", [&] { return run_steps(of(handle), r); });
}

}  // namespace detail

// The table to return from foveal_plugin().
template <const PluginDef* def>
const fv_plugin_api* api() {
  static const fv_plugin_api table{FV_ABI_INIT(fv_plugin_api),
                                   def->name,
                                   def->version,
                                   def->vendor,
                                   detail::open<def>,
                                   detail::close,
                                   detail::device_count,
                                   detail::device_info,
                                   detail::backend_create,
                                   detail::backend_destroy,
                                   detail::supports,
                                   detail::fuses,
                                   detail::compile,
                                   detail::program_info,
                                   detail::program_destroy,
                                   detail::run,
                                   nullptr,  // resume
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr,   // device memory
                                   nullptr};  // extension
  return &table;
}

}  // namespace foveal::plugin
#endif  // FOVEAL_PLUGIN_HPP_
