// Plugins linked into the program, as on platforms without dlopen: registered, placed, mixed with
// another, refused when their table is of another ABI, and still running after their removal.
#include <string>
#include <vector>

#include "check.h"
#include "foveal/foveal.h"
#include "foveal/plugin.hpp"

using foveal::ok;
using foveal::Status;
namespace plugin = foveal::plugin;

namespace {

// One operator, and different on purpose: tests see which device ran.
struct PlusHundred : plugin::Kernel {
  int x, y;
  int64_t n;
  Status run(const plugin::Run& r) override {
    for (int64_t i = 0; i < n; ++i) r.ptr<float>(y)[i] = r.ptr<float>(x)[i] + 100.f;
    return ok();
  }
};
const plugin::KernelDef kKernels[] = {
    {"relu",
     [](const plugin::Node& n, plugin::Support& s) {
       if (n.input(0).dtype() != FV_FLOAT32) return s.no("float32 only");
       s.yes();
       s.in_place(0);
     },
     [](const plugin::Context&, const plugin::Node& n) -> plugin::MadeKernel {
       auto k = std::make_unique<PlusHundred>();
       k->x = n.input(0).slot();
       k->y = n.output(0).slot();
       k->n = n.input(0).count();
       return std::unique_ptr<plugin::Kernel>(std::move(k));
     }}};
std::vector<fv_device_info> devices() {
  return {plugin::device("hundred", "adds 100", 1),
          plugin::device("absent", "never there", 0, "no such hardware")};
}
std::span<const plugin::KernelDef> kernels(int) { return kKernels; }
constexpr plugin::PluginDef kDef{"hundred", "1.0.0", "tests", devices, kernels};

const fv_plugin_api* good() { return plugin::api<&kDef>(); }
const fv_plugin_api* foreign() {
  static fv_plugin_api api = *good();
  api.abi.abi_major = FV_ABI_MAJOR + 1;
  return &api;
}
const fv_plugin_api* short_table() {
  static fv_plugin_api api = *good();
  api.abi.struct_size = 32;
  return &api;
}
const fv_plugin_api* nothing() { return nullptr; }
const fv_plugin_api* gap() {
  static fv_plugin_api api = *good();
  api.supports = nullptr;
  return &api;
}

// y = neg(relu(x)), x float32 [3].
fv_model* make_model() {
  fv_graph* g = nullptr;
  CHECK_OK(Status(fv_graph_new(&g)));
  const int64_t dims[] = {3};
  int32_t x = -1, r = -1, y = -1;
  CHECK_OK(Status(fv_graph_add_value(g, "x", FV_FLOAT32, 1, dims, nullptr, &x)));
  CHECK_OK(Status(fv_graph_add_value(g, "r", 0, 0, nullptr, nullptr, &r)));
  CHECK_OK(Status(fv_graph_add_value(g, "y", 0, 0, nullptr, nullptr, &y)));
  CHECK_OK(Status(fv_graph_add_node(g, "relu", "act", &x, 1, &r, 1, nullptr, 0)));
  CHECK_OK(Status(fv_graph_add_node(g, "neg", "minus", &r, 1, &y, 1, nullptr, 0)));
  CHECK_OK(Status(fv_graph_set_io(g, &x, 1, &y, 1)));
  fv_model* model = nullptr;
  CHECK_OK(Status(fv_graph_to_model(g, &model)));
  fv_graph_free(g);
  return model;
}

Status open(fv_model* model, const char* names, fv_session** out) {
  const fv_session_options options{FV_ABI_INIT(fv_session_options), names, 1, 0};
  return Status(fv_session_new(model, &options, out));
}

float run(fv_session* s) {
  fv_tensor t{};
  t.abi = FV_ABI_INIT(fv_tensor);
  CHECK_OK(Status(fv_session_input(s, 0, &t)));
  for (int i = 0; i < 3; ++i) static_cast<float*>(t.data)[i] = -2.f;
  CHECK_OK(Status(fv_session_run(s)));
  CHECK_OK(Status(fv_session_output(s, 0, &t)));
  return static_cast<const float*>(t.data)[2];
}

}  // namespace

int main() {
  const std::string abi = "is built for plugin ABI 2." + std::to_string(FV_ABI_MINOR);
  CHECK_ERROR(Status(fv_plugin_add_static(foreign)), FV_PLUGIN_ERROR, abi.c_str());
  CHECK_ERROR(Status(fv_plugin_add_static(short_table)), FV_PLUGIN_ERROR, "table has 32 bytes");
  CHECK_ERROR(Status(fv_plugin_add_static(nothing)), FV_PLUGIN_ERROR, "returned no table");
  CHECK_ERROR(Status(fv_plugin_add_static(gap)), FV_PLUGIN_ERROR, "required entry");
  CHECK_OK(Status(fv_plugin_add_static(good)));
  CHECK_OK(Status(fv_plugin_add(FOVEAL_CPU_PLUGIN)));

  fv_model* model = make_model();
  fv_session *mixed = nullptr, *cpu = nullptr, *none = nullptr;
  CHECK_OK(open(model, "hundred, cpu", &mixed));
  CHECK_OK(open(model, "auto", &cpu));  // by score: the CPU first
  CHECK_EQ(run(mixed), -98.f);
  CHECK_EQ(run(cpu), 0.f);
  CHECK_ERROR(open(model, "hundred", &none), FV_UNSUPPORTED_OP, "no kernel for 'neg'");
  CHECK_ERROR(open(model, "absent", &none), FV_PLUGIN_ERROR, "no such hardware");
  CHECK_ERROR(open(model, "gpu", &none), FV_NOT_FOUND, "there are: hundred, absent, cpu");

  CHECK_OK(Status(fv_plugin_remove("hundred")));
  CHECK_ERROR(Status(fv_plugin_remove("hundred")), FV_NOT_FOUND, "hundred");
  CHECK_ERROR(open(model, "hundred", &none), FV_NOT_FOUND, "no device 'hundred'");
  CHECK_EQ(run(mixed), -98.f);
  fv_session_free(mixed);
  fv_session_free(cpu);
  fv_model_release(model);
  return CHECK_RESULT();
}
