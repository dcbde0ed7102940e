// Sizes that 32 bits cannot hold are out of memory, not remainders modulo 2^32. On 64 bits there is
// nothing to see, and it says so.
#include <cstdint>
#include <cstdio>

#include "foveal/foveal.h"

namespace {

int failures = 0;

void expect(fv_status* status, fv_code code, const char* what) {
  const fv_code got = status ? fv_status_code(status) : FV_OK;
  std::printf("%s: %s\n", what, status ? fv_status_text(status) : "succeeded");
  if (got != code) {
    std::printf("wrong: expected code %d, got %d\n", static_cast<int>(code), static_cast<int>(got));
    ++failures;
  }
  fv_status_free(status);
}

// 2^30 + 1 floats are 4 bytes modulo 2^32: what a truncated size would read and copy.
void constant() {
  const float value = 1;
  const int64_t dims[] = {(int64_t{1} << 30) + 1};
  fv_graph* graph = nullptr;
  int32_t id = -1;
  expect(fv_graph_new(&graph), FV_OK, "graph");
  expect(fv_graph_add_constant(graph, "c", FV_FLOAT32, 1, dims, &value, &id), FV_OUT_OF_MEMORY,
         "constant");
  fv_graph_free(graph);
}

// y = relu(x) of as many floats, in plain and in blocked layout.
void activation(int32_t rank, const int64_t* dims, const char* what) {
  fv_graph* graph = nullptr;
  fv_model* model = nullptr;
  fv_session* session = nullptr;
  int32_t x = -1, y = -1;
  expect(fv_graph_new(&graph), FV_OK, "graph");
  expect(fv_graph_add_value(graph, "x", FV_FLOAT32, rank, dims, nullptr, &x), FV_OK, "x");
  expect(fv_graph_add_value(graph, "y", 0, 0, nullptr, nullptr, &y), FV_OK, "y");
  expect(fv_graph_add_node(graph, "relu", "r", &x, 1, &y, 1, nullptr, 0), FV_OK, "node");
  expect(fv_graph_set_io(graph, &x, 1, &y, 1), FV_OK, "io");
  expect(fv_graph_to_model(graph, &model), FV_OK, "model");
  fv_status* status = model ? fv_session_new(model, nullptr, &session) : nullptr;
  if (!status && session) {
    fv_tensor t{};
    t.abi = FV_ABI_INIT(fv_tensor);
    status = fv_session_input(session, 0, &t);
  }
  expect(status, FV_OUT_OF_MEMORY, what);
  fv_session_free(session);
  fv_model_release(model);
  fv_graph_free(graph);
}

}  // namespace

int main() {
  if (sizeof(void*) > 4) {
    std::printf("64 bits: nothing to check\n");
    return 0;
  }
  const int64_t flat[] = {(int64_t{1} << 30) + 1}, image[] = {1, 1, 1 << 15, (1 << 15) + 1};
  constant();
  activation(1, flat, "tensor");
  activation(4, image, "image");
  return failures ? 1 : 0;
}
