// A session on the real CPU plugin: plans per shape, memory shared, no allocation while running.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/dlpack.h"
#include "check.h"
#include "foveal/foveal.h"
#include "sanitizer.h"

#if defined(__GLIBC__) && !defined(FV_SANITIZER)
#define FV_COUNTS_ALLOCATIONS 1
// Interposed for the whole process, plugins included.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_memalign(size_t, size_t);
static size_t allocations = 0;
void* malloc(size_t n) {
  ++allocations;
  return __libc_malloc(n);
}
int posix_memalign(void** out, size_t alignment, size_t n) {
  ++allocations;
  *out = __libc_memalign(alignment, n);
  return *out ? 0 : 12;
}
}
#else
static size_t allocations = 0;
#endif

using foveal::Status;

namespace {

struct Model {
  fv_graph* graph = nullptr;
  fv_model* model = nullptr;
  ~Model() {
    fv_graph_free(graph);
    fv_model_release(model);
  }
};

int32_t value(fv_graph* g, const char* name, std::vector<int64_t> dims,
              std::vector<const char*> names = {}) {
  int32_t v = -1;
  names.resize(dims.size(), nullptr);
  CHECK_OK(Status(fv_graph_add_value(g, name, FV_FLOAT32, static_cast<int32_t>(dims.size()),
                                     dims.data(), names.data(), &v)));
  return v;
}

// y = relu(conv2d(x)) for x [1, 5, ?, ?]: shapes change per run.
void make(Model& m) {
  CHECK_OK(Status(fv_graph_new(&m.graph)));
  const int32_t x = value(m.graph, "x", {1, 5, -1, -1}, {nullptr, nullptr, "height", "width"});
  const int32_t c = value(m.graph, "c", {1, 7, -1, -1});
  const int32_t y = value(m.graph, "y", {1, 7, -1, -1});
  std::vector<float> weight(7 * 5 * 3 * 3);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 11) - 5.f;
  const int64_t dims[] = {7, 5, 3, 3};
  int32_t w = -1;
  CHECK_OK(Status(fv_graph_add_constant(m.graph, "w", FV_FLOAT32, 4, dims, weight.data(), &w)));
  const int64_t pad[] = {1, 1, 1, 1};
  fv_named_attr attr{"pad", {FV_ABI_INIT(fv_attr), FV_ATTR_INTS, 0, 4, pad, nullptr, nullptr}};
  const int32_t conv_in[] = {x, w};
  CHECK_OK(Status(fv_graph_add_node(m.graph, "conv2d", "conv", conv_in, 2, &c, 1, &attr, 1)));
  CHECK_OK(Status(fv_graph_add_node(m.graph, "relu", "act", &c, 1, &y, 1, nullptr, 0)));
  CHECK_OK(Status(fv_graph_set_io(m.graph, &x, 1, &y, 1)));
  CHECK_OK(Status(fv_graph_to_model(m.graph, &m.model)));
}

// The definition of the model above at one output element.
float expected(const float* x, int h, int w, int o, int r, int q) {
  double sum = 0;
  for (int i = 0; i < 5; ++i)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        const int y = r + a - 1, z = q + b - 1;
        if (y < 0 || z < 0 || y >= h || z >= w) continue;
        sum +=
            x[(i * h + y) * w + z] * static_cast<double>((((o * 5 + i) * 3 + a) * 3 + b) % 11 - 5);
      }
  return static_cast<float>(sum > 0 ? sum : 0);
}

void check_run(fv_session* s, int h, int w) {
  const int64_t dims[] = {1, 5, h, w};
  CHECK_OK(Status(fv_session_resize(s, 0, 4, dims)));
  fv_tensor in{}, out{};
  in.abi = out.abi = FV_ABI_INIT(fv_tensor);
  CHECK_OK(Status(fv_session_input(s, 0, &in)));
  auto* x = static_cast<float*>(in.data);
  for (int i = 0; i < 5 * h * w; ++i) x[i] = static_cast<float>((i * 37) % 23) - 11.f;
  CHECK_OK(Status(fv_session_run(s)));
  CHECK_OK(Status(fv_session_output(s, 0, &out)));
  CHECK(out.dims[2] == h && out.dims[3] == w && std::string(out.name) == "y");
  const auto* y = static_cast<const float*>(out.data);
  for (int o = 0; o < 7; ++o)
    for (int r = 0; r < h; ++r)
      for (int q = 0; q < w; ++q) CHECK_EQ(y[(o * h + r) * w + q], expected(x, h, w, o, r, q));
}

}  // namespace

int main() {
  CHECK_OK(Status(fv_plugin_add(FOVEAL_CPU_PLUGIN)));
  Model m;
  make(m);
  fv_session_options options{FV_ABI_INIT(fv_session_options), "cpu", 2, 0};
  fv_session* s = nullptr;
  CHECK_OK(Status(fv_session_new(m.model, &options, &s)));
  if (!s) return CHECK_RESULT();

  fv_tensor t{};
  t.abi = FV_ABI_INIT(fv_tensor);
  CHECK_ERROR(Status(fv_session_input(s, 0, &t)), FV_SHAPE_ERROR, "not decided yet");
  const int64_t wrong[] = {1, 4, 8, 8};
  CHECK_ERROR(Status(fv_session_resize(s, 0, 4, wrong)), FV_SHAPE_ERROR, "expects shape");
  const int64_t negative[] = {1, 5, -1, 8};
  CHECK_ERROR(Status(fv_session_resize(s, 0, 4, negative)), FV_SHAPE_ERROR, "got [1, 5, ?, 8]");
  CHECK_ERROR(Status(fv_session_input(s, 3, &t)), FV_SHAPE_ERROR, "not decided");
  const int64_t empty[] = {1, 5, 0, 8};  // allowed, but not by a 3x3 window
  CHECK_OK(Status(fv_session_resize(s, 0, 4, empty)));
  CHECK_ERROR(Status(fv_session_run(s)), FV_SHAPE_ERROR, "window of 3");

  // More shapes than plans are kept for, back and forth.
  for (int round = 0; round < 2; ++round)
    for (int size : {4, 9, 1, 16, 7, 3}) check_run(s, size, size + 1);

  // The same session again and again: nothing is allocated.
  check_run(s, 9, 9);
  const size_t before = allocations;
  for (int i = 0; i < 100; ++i)
    if (fv_status* e = fv_session_run(s)) fv_status_free(e), CHECK(false);
  const size_t made = allocations - before;
  CHECK_EQ(made, size_t{0});

  // The model and a tensor handed out survive the session.
  void* managed = nullptr;
  CHECK_OK(Status(fv_session_output_dlpack(s, 0, &managed)));
  fv_session_free(s);
  CHECK_OK(Status(fv_tensor_from_dlpack(managed, &t)));
  float sum = 0;
  for (uint64_t i = 0; i < t.bytes / 4; ++i) sum += static_cast<const float*>(t.data)[i];
  CHECK(sum > 0);
  auto* tensor = static_cast<DLManagedTensor*>(managed);
  tensor->deleter(tensor);
  return CHECK_RESULT();
}
