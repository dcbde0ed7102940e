// Writes the models that the hardening programs and the fuzz targets start from: small, of many
// kinds of operators, the same ones every time.
//
//   make_models FOLDER
#include <cmath>
#include <cstdio>
#include <string>

#include "core/check.h"
#include "core/random.h"
#include "graph/model_file.h"

using namespace foveal;
using namespace foveal::test;

namespace {

int weight(Graph& g, Random& r, const Dims& dims) {
  const Tensor t = r.tensor(dims);
  return g.add_constant("w" + std::to_string(g.values.size()), {FV_FLOAT32, dims}, t.data.data());
}

int input(Graph& g, const Dims& dims) {
  const int x = g.add_value("x" + std::to_string(g.inputs.size()), {FV_FLOAT32, dims});
  g.inputs.push_back(x);
  return x;
}

// Convolutions, plain and depthwise, a residual, pooling, a classifier.
Graph network(Random& r) {
  Graph g;
  const Ints pad{1, 1, 1, 1};
  const int x = input(g, {1, 3, 11, 9});
  int v = append(g, "conv2d", {x, weight(g, r, {8, 3, 3, 3}), weight(g, r, {8})},
                 {{"pad", pad}, {"stride", Ints{2, 2}}})[0];
  v = append(g, "relu", {v})[0];
  int d = append(g, "conv2d", {v, weight(g, r, {8, 1, 3, 3})},
                 {{"pad", pad}, {"group", int64_t{8}}})[0];
  d = append(g, "silu", {d})[0];
  d = append(g, "conv2d", {d, weight(g, r, {8, 8, 1, 1}), weight(g, r, {8})})[0];
  v = append(g, "add", {v, d})[0];
  g.outputs.push_back(
      append(g, "pool2d", {v}, {{"kernel", Ints{2, 2}}, {"stride", Ints{2, 2}}})[0]);
  v = append(g, "reduce_mean", {v}, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{0}}})[0];
  v = append(g, "matmul", {v, weight(g, r, {8, 5})})[0];
  g.outputs.push_back(append(g, "softmax", {v})[0]);
  return g;
}

// What moves and resizes: all of it decomposes into rasters.
Graph head(Random& r) {
  Graph g;
  const int x = input(g, {1, 5, 4, 6});
  int v = append(g, "resize", {x}, {{"scale", Floats{2, 2}}, {"mode", std::string("bilinear")}})[0];
  v = append(g, "concat", {v, append(g, "sigmoid", {v})[0]}, {{"axis", int64_t{1}}})[0];
  v = append(g, "transpose", {v}, {{"perm", Ints{0, 2, 3, 1}}})[0];
  v = append(g, "mul", {v, weight(g, r, {10})})[0];
  g.outputs.push_back(append(g, "reshape", {v}, {{"shape", Ints{1, 96, 10}}})[0]);
  const int32_t index[] = {1, 0, -1};
  const int k = g.add_constant("index", {FV_INT32, {3}}, index);
  g.outputs.push_back(append(g, "gather", {v, k}, {{"axis", int64_t{3}}})[0]);
  g.meta = {{"labels", "[\"a\", \"b\"]"}, {"a key", "a value"}};
  return g;
}

Graph movements(Random& r) {
  Graph g;
  int v = input(g, {2, 4, 6});
  for (int i = 0; i < 6; ++i) {
    const std::vector<int> made = append_movement(g, r, v);
    if (!made.empty() && element_count(g.type(made.back()).dims) < 4000) v = made.back();
  }
  g.outputs.push_back(append(g, "neg", {v})[0]);
  return g;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  Random r(7);
  const auto save = [&](const char* name, Graph g) {
    CHECK_OK(save_model(g, folder + "/" + name + ".fvm"));
  };
  save("a-network", network(r));
  save("b-head", head(r));
  for (int i = 0; i < 4; ++i) save(("c-movements-" + std::to_string(i)).c_str(), movements(r));
  return CHECK_RESULT();
}
