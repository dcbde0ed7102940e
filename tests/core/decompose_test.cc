// Lowering: every movement operator against its index formula, every normalisation against plain
// loops in double, and the errors.
#include "graph/decompose.h"

#include "check.h"
#include "graph/verify.h"
#include "random.h"

using namespace foveal;
using namespace foveal::test;

namespace {

// What a minimal backend would run.
bool primitive(const Graph& g, int node) {
  const OpDef* def = op_table().find(g.nodes[static_cast<size_t>(node)].op);
  return !def->decompose;
}

void test_movement() {
  Random r(1);
  int tried = 0;
  for (int round = 0; round < 600; ++round) {
    Graph g;
    const Dims shapes[] = {{2, 4, 6, 4}, {1, 8, 2, 2}, {3, 1, 5}, {7}, {}, {2, 0, 3}};
    const int x = g.add_value("x", {FV_FLOAT32, shapes[r.in(0, 5)]});
    g.inputs = {x};
    g.outputs = append_movement(g, r, x);
    if (g.outputs.empty()) continue;
    Graph lowered = g;
    if (!CHECK_OK(decompose(lowered, primitive))) continue;
    for (const Node& n : lowered.nodes)
      CHECK(n.op == "raster" || n.op == "neg" || (op_table().find(n.op)->traits & kView));
    CHECK_OK(verify(lowered));
    const std::vector<Tensor> input{r.tensor(g.type(x).dims)};
    if (!CHECK(same(Naive(lowered, input).outputs(), Naive(g, input).outputs())))
      std::fprintf(stderr, "  %s of %s\n", g.nodes.back().op.c_str(),
                   to_string(g.type(x).dims).c_str());
    ++tried;
  }
  CHECK(tried > 300);
}

// Lowers one node with parameters as inputs or as constants and compares with the reference.
void check_norm(const std::string& op, Attrs attrs, const std::vector<Dims>& shapes, bool constants,
                const std::function<double(const std::vector<Tensor>&, const Ints&)>& reference) {
  Random r(7);
  Graph g;
  std::vector<Tensor> all, fed;
  std::vector<int> ids;
  for (size_t i = 0; i < shapes.size(); ++i) {
    all.push_back(r.tensor(shapes[i]));
    if (op == "batch_norm" && i == 4)
      for (float& v : all.back().data) v = std::fabs(v) + 0.1f;
    const TensorType type{FV_FLOAT32, shapes[i]};
    const std::string name = "in" + std::to_string(i);
    if (i && constants) {
      ids.push_back(g.add_constant(name, type, all.back().data.data()));
    } else {
      ids.push_back(g.add_value(name, type));
      g.inputs.push_back(ids.back());
      fed.push_back(all.back());
    }
  }
  g.outputs = append(g, op, ids, std::move(attrs));
  if (!CHECK_EQ(g.outputs.size(), size_t{1})) return;
  if (!CHECK_OK(decompose(g, [](const Graph& graph, int node) {
        const std::string& name = graph.nodes[static_cast<size_t>(node)].op;
        return name != "softmax" && primitive(graph, node);
      })))
    return;
  CHECK_OK(verify(g));
  const Naive run(g, fed);
  CHECK(run.unknown.empty());
  const Tensor y = run.outputs()[0];
  size_t at = 0;
  double worst = 0;
  each_index(y.dims, [&](const Ints& index) {
    const double expected = reference(all, index);
    worst = std::max(worst, std::fabs(y.data[at++] - expected) / (1 + std::fabs(expected)));
  });
  if (!CHECK(worst < 2e-5)) std::fprintf(stderr, "  %s: off by %g\n", op.c_str(), worst);
}

float at(const Tensor& t, const Ints& index) {
  return t.data[static_cast<size_t>(address(t.dims, index))];
}

// Mean and variance of x over the elements that agree with `index` outside `axes`.
std::pair<double, double> moments(const Tensor& x, const Ints& index,
                                  const std::vector<bool>& axes) {
  double sum = 0, squares = 0, n = 0;
  for (int pass = 0; pass < 2; ++pass)
    each_index(x.dims, [&](const Ints& i) {
      for (size_t k = 0; k < i.size(); ++k)
        if (!axes[k] && i[k] != index[k]) return;
      if (pass == 0)
        sum += at(x, i), n += 1;
      else
        squares += (at(x, i) - sum / n) * (at(x, i) - sum / n);
    });
  return {sum / n, squares / n};
}

void test_norms() {
  const Dims x{2, 3, 4, 5}, c{3};
  for (bool constants : {false, true}) {
    check_norm("batch_norm", {{"epsilon", 1e-3}}, {x, c, c, c, c}, constants,
               [](const std::vector<Tensor>& t, const Ints& i) {
                 const Ints k{i[1]};
                 return (at(t[0], i) - at(t[3], k)) / std::sqrt(at(t[4], k) + 1e-3) * at(t[1], k) +
                        at(t[2], k);
               });
    check_norm("batch_norm", {}, {{2, 3}, c, c, c, c}, constants,
               [](const std::vector<Tensor>& t, const Ints& i) {
                 const Ints k{i[1]};
                 return (at(t[0], i) - at(t[3], k)) / std::sqrt(at(t[4], k) + 1e-5) * at(t[1], k) +
                        at(t[2], k);
               });
    check_norm(
        "instance_norm", {}, {x, c, c}, constants, [](const std::vector<Tensor>& t, const Ints& i) {
          const auto [mean, variance] = moments(t[0], i, {false, false, true, true});
          const Ints k{i[1]};
          return (at(t[0], i) - mean) / std::sqrt(variance + 1e-5) * at(t[1], k) + at(t[2], k);
        });
    check_norm("layer_norm", {{"axis", int64_t{-2}}}, {x, {4, 5}, {5}}, constants,
               [](const std::vector<Tensor>& t, const Ints& i) {
                 const auto [mean, variance] = moments(t[0], i, {false, false, true, true});
                 return (at(t[0], i) - mean) / std::sqrt(variance + 1e-5) * at(t[1], {i[2], i[3]}) +
                        at(t[2], {i[3]});
               });
  }
  check_norm("l2_normalize", {{"axis", int64_t{1}}}, {x}, false,
             [](const std::vector<Tensor>& t, const Ints& i) {
               double sum = 0;
               for (int64_t k = 0; k < 3; ++k) sum += std::pow(at(t[0], {i[0], k, i[2], i[3]}), 2);
               return at(t[0], i) / std::sqrt(std::max(sum, 1e-5));
             });
  for (const char* op : {"softmax", "log_softmax"}) {
    const bool logarithm = op[0] == 'l';
    check_norm(op, {{"axis", int64_t{1}}}, {x}, false,
               [logarithm](const std::vector<Tensor>& t, const Ints& i) {
                 double sum = 0;
                 for (int64_t k = 0; k < 3; ++k) sum += std::exp(at(t[0], {i[0], k, i[2], i[3]}));
                 return logarithm ? at(t[0], i) - std::log(sum) : std::exp(at(t[0], i)) / sum;
               });
  }
}

// What inference accepts can be lowered: the regions of every raster are checked against their
// tensors, so a wrong one would be an error here.
void test_odd_attributes() {
  Random r(23);
  int lowered = 0;
  for (const OpDef& def : op_table().defs()) {
    if (!def.decompose) continue;
    for (int round = 0; round < 300; ++round) {
      const Dims shapes[] = {{2, 4, 6, 4}, {1, 3, 7, 5}, {3}, {}, {2, 0, 3}, {1, 1, 1, 1}, {4, 3}};
      Graph g;
      std::vector<int> in;
      for (size_t i = 0; i < def.inputs.size(); ++i) {
        const bool indices = def.name == "gather" && i == 1;
        if (indices) {
          const int64_t list[] = {0, -1, 0};
          in.push_back(g.add_constant("i", {FV_INT64, {r.in(0, 3)}}, list));
          continue;
        }
        in.push_back(g.add_value("x" + std::to_string(i),
                                 {FV_FLOAT32, i ? Dims{r.in(1, 4)} : shapes[r.in(0, 6)]}));
        g.inputs.push_back(in.back());
      }
      Attrs attrs = odd_attrs(def, r);
      std::vector<const TensorType*> types;
      for (int v : in) types.push_back(&g.type(v));
      const size_t outputs = def.name == "split" ? static_cast<size_t>(r.in(1, 3)) : 1;
      if (!infer_op(def.name, attrs, types, outputs).ok()) continue;
      g.outputs = append(g, def.name, in, attrs, outputs);
      const Status s = decompose(g, [&](const Graph& graph, int node) {
        const OpDef* d = op_table().find(graph.nodes[static_cast<size_t>(node)].op);
        return d->name != def.name && !d->decompose;
      });
      if (s.code() != FV_UNSUPPORTED_OP && !(def.name == "gather" && s.code() == FV_SHAPE_ERROR))
        CHECK_OK(s);
      ++lowered;
    }
  }
  CHECK(lowered > 500);
}

void test_keep_and_names() {
  Graph g;
  const int x = g.add_value("x", {FV_FLOAT32, {2, 3}});
  g.add_value("~0", {FV_FLOAT32, {1}});  // a name like those made here
  g.inputs = {x, 1};
  const int t = append(g, "transpose", {x})[0];
  const int y = append(g, "layer_norm", {t})[0];
  g.outputs = {y};
  Graph kept = g;
  CHECK_OK(decompose(kept, [](const Graph&, int) { return true; }));
  CHECK_EQ(kept.nodes.size(), size_t{2});
  Graph lowered = g;
  int asked = 0;
  CHECK_OK(decompose(lowered, [&](const Graph& graph, int node) {
    ++asked;
    for (int v : graph.nodes[static_cast<size_t>(node)].outputs)
      CHECK(is_concrete(graph.type(v).dims));
    return graph.nodes[static_cast<size_t>(node)].op != "layer_norm";
  }));
  CHECK_EQ(lowered.nodes[0].op, "transpose");
  CHECK_EQ(lowered.outputs[0], y);
  CHECK(asked > 5);
  CHECK_OK(verify(lowered));
}

void test_errors() {
  Graph g;
  const int x = g.add_value("x", {FV_FLOAT32, {4, 3}});
  const int i = g.add_value("i", {FV_INT64, {2}});
  g.inputs = {x, i};
  const int a = append(g, "gather", {x, i})[0];
  const int b = append(g, "exp", {a})[0];
  const int c = append(g, "exp", {b})[0];
  g.outputs = append(g, "transpose", {c});
  Graph lowered = g;
  CHECK_ERROR(decompose(
                  lowered,
                  [](const Graph& graph, int n) {
                    return graph.nodes[static_cast<size_t>(n)].op == "raster";
                  },
                  [](const Graph&, int) { return std::string("dev: no kernel"); }),
              FV_UNSUPPORTED_OP,
              "no chosen device runs gather 'gather0' (dev: no kernel; gather with computed "
              "indices has no decomposition); exp 'exp1' (dev: no kernel)");

  Graph bad;
  const int v = bad.add_value("x", {FV_FLOAT32, {4, 3}});
  const int64_t index = 4;
  const int k = bad.add_constant("k", {FV_INT64, {1}}, &index);
  bad.inputs = {v};
  bad.outputs = append(bad, "gather", {v, k});
  CHECK_ERROR(decompose(bad, primitive), FV_SHAPE_ERROR,
              "gather 'gather0': index 4 is outside [-4, 4)");
}

}  // namespace

int main() {
  test_movement();
  test_norms();
  test_odd_attributes();
  test_keep_and_names();
  test_errors();
  return CHECK_RESULT();
}
