// Shape inference: a table of operators, shapes and what must come out, errors included.
#include "graph/infer.h"

#include <climits>
#include <limits>

#include "check.h"
#include "graph/ops_json.h"
#include "random.h"

using namespace foveal;

namespace {

constexpr int64_t U = kUnknown;

TensorType f32(Dims d) { return {FV_FLOAT32, std::move(d)}; }

struct Case {
  const char* op;
  Attrs attrs;
  std::vector<TensorType> inputs;  // dtype 0: omitted
  std::vector<TensorType> expected;
  std::string error;  // part of the message instead
};

void run(const Case& c, int line) {
  Attrs attrs = c.attrs;
  std::vector<const TensorType*> in;
  for (const TensorType& t : c.inputs) in.push_back(t.dtype ? &t : nullptr);
  auto got = infer_op(c.op, attrs, in, std::max<size_t>(c.expected.size(), 1));
  const std::string where = std::string(c.op) + " of line " + std::to_string(line) + ": ";
  if (!c.error.empty()) {
    test::report(!got.ok() && got.status().message().find(c.error) != std::string::npos, __FILE__,
                 line,
                 where + "expected \"" + c.error + "\", got \"" + got.status().message() + "\"");
    return;
  }
  if (!test::report(got.ok(), __FILE__, line, where + got.status().message())) return;
  for (size_t i = 0; i < c.expected.size(); ++i)
    test::report(
        got.value()[i] == c.expected[i], __FILE__, line,
        where + "got " + to_string(got.value()[i]) + ", expected " + to_string(c.expected[i]));
}
#define OK(op, attrs, in, out) run({op, Attrs attrs, in, out, ""}, __LINE__)
#define BAD(op, attrs, in, text) run({op, Attrs attrs, in, {}, text}, __LINE__)
using T = std::vector<TensorType>;

void test_windows() {
  const TensorType x = f32({1, 3, 7, 5}), w = f32({8, 3, 3, 3});
  OK("conv2d", ({}), (T{x, w}), T{f32({1, 8, 5, 3})});
  OK("conv2d", ({{"stride", Ints{2, 2}}, {"pad", Ints{1, 1, 1, 1}}}), (T{x, w}),
     T{f32({1, 8, 4, 3})});
  OK("conv2d", ({{"dilation", Ints{2, 1}}}), (T{x, w, f32({8})}), T{f32({1, 8, 3, 3})});
  OK("conv2d", ({{"group", int64_t{3}}}), (T{x, f32({6, 1, 3, 3})}), T{f32({1, 6, 5, 3})});
  OK("conv2d", ({}), (T{f32({U, 3, U, 5}), w}), T{f32({U, 8, U, 3})});
  BAD("conv2d", ({}), (T{f32({1, 16, 8, 8}), f32({8, 24, 3, 3})}),
      "weight has 24 input channels, input has 16");
  BAD("conv2d", ({{"group", int64_t{4}}}), (T{f32({1, 4, 8, 8}), f32({6, 1, 3, 3})}),
      "6 output channels do not divide into 4 groups");
  BAD("conv2d", ({}), (T{f32({1, 3, 2, 5}), w}),
      "window of 3 (kernel 3, dilation 1) is larger than the padded input 2 (0 + 2 + 0)");
  BAD("conv2d", ({{"stride", Ints{0, 1}}}), (T{x, w}), "stride is [0, 1], expected 2 integers");
  BAD("conv2d", ({{"stride", Ints{1}}}), (T{x, w}), "stride is [1]");
  BAD("conv2d", ({{"pad", Ints{0, 0, 0}}}), (T{x, w}), "pad is [0, 0, 0], expected 4");
  BAD("conv2d", ({{"pad", Ints{0, 0, 0, -1}}}), (T{x, w}), "pad is");
  BAD("conv2d", ({{"pad", Ints{INT64_MAX, 0, 0, 0}}}), (T{x, w}), "pad is");
  BAD("conv2d", ({{"group", int64_t{0}}}), (T{x, w}), "group is [0]");
  BAD("conv2d", ({{"group", int64_t{-1}}}), (T{x, w}), "group is [-1]");
  BAD("conv2d", ({}), (T{f32({3, 7, 5}), w}), "rank 4");
  BAD("conv2d", ({}), (T{x, w, f32({7})}), "bias has 7 elements, the output has 8 channels");
  BAD("conv2d", ({}), (T{x, f32({8, 3, 0, 3})}), "kernel (from weight)");
  BAD("conv2d", ({}), (T{x}), "input 1 is missing");
  BAD("conv2d", ({}), (T{x, w, f32({8}), x}), "has 4 inputs");
  BAD("conv2d", ({{"strides", Ints{1, 1}}}), (T{x, w}), "attribute 'strides' is unknown");
  BAD("conv2d", ({{"stride", std::string("1")}}), (T{x, w}),
      "attribute 'stride' is a string, expected a list of integers");

  OK("conv_transpose2d", ({{"stride", Ints{2, 2}}}), (T{f32({1, 4, 5, 3}), f32({4, 6, 2, 3})}),
     T{f32({1, 6, 10, 7})});
  OK("conv_transpose2d",
     ({{"stride", Ints{2, 2}},
       {"pad", Ints{1, 1, 1, 1}},
       {"output_pad", Ints{1, 1}},
       {"group", int64_t{2}}}),
     (T{f32({1, 4, 5, 3}), f32({4, 3, 3, 3})}), T{f32({1, 6, 10, 6})});
  BAD("conv_transpose2d", ({}), (T{f32({1, 5, 5, 3}), f32({4, 3, 3, 3})}),
      "weight has 4 input channels, input has 5");
  BAD("conv_transpose2d", ({{"pad", Ints{4, 0, 4, 0}}}), (T{f32({1, 4, 5, 3}), f32({4, 3, 3, 3})}),
      "leaves -1 of the output");

  const Ints k3{3, 3}, s2{2, 2};
  OK("pool2d", ({{"kernel", k3}, {"stride", s2}}), (T{f32({2, 4, 8, 7})}), T{f32({2, 4, 3, 3})});
  OK("pool2d", ({{"kernel", k3}, {"stride", s2}, {"ceil", int64_t{1}}}), (T{f32({2, 4, 8, 7})}),
     T{f32({2, 4, 4, 3})});
  // The window that would start behind the input and its leading padding does not count.
  OK("pool2d", ({{"kernel", Ints{1, 1}}, {"stride", s2}, {"ceil", int64_t{1}}}),
     (T{f32({1, 1, 4, 4})}), T{f32({1, 1, 2, 2})});
  OK("pool2d",
     ({{"kernel", Ints{2, 2}}, {"stride", s2}, {"pad", Ints{1, 1, 1, 1}}, {"ceil", int64_t{1}}}),
     (T{f32({1, 1, 3, 2})}), T{f32({1, 1, 2, 2})});
  BAD("pool2d", ({{"mode", std::string("median")}}), (T{f32({1, 1, 4, 4})}), "mode is 'median'");
  BAD("pool2d", ({{"kernel", Ints{2, 2}}, {"pad", Ints{0, 0, 2, 0}}}), (T{f32({1, 1, 4, 4})}),
      "pad 2 is not smaller than the window of 2");
  BAD("pool2d", ({{"kernel", Ints{0, 1}}}), (T{f32({1, 1, 4, 4})}), "kernel is [0, 1]");
}

void test_pointwise() {
  OK("relu", ({}), (T{f32({U, 3})}), T{f32({U, 3})});
  OK("relu", ({}), (T{f32({})}), T{f32({})});
  BAD("exp", ({}), (T{{FV_BOOL, {2}}}), "bool");
  OK("not", ({}), (T{{FV_BOOL, {2}}}), (T{{FV_BOOL, {2}}}));
  BAD("not", ({}), (T{f32({2})}), "expected bool");
  OK("add", ({}), (T{f32({2, 1, 4}), f32({3, 1})}), T{f32({2, 3, 4})});
  OK("add", ({}), (T{f32({U, 1}), f32({1, 5})}), T{f32({U, 5})});
  OK("add", ({}), (T{f32({U, 4}), f32({3, 4})}), T{f32({3, 4})});
  BAD("add", ({}), (T{f32({2, 3}), f32({4})}), "do not broadcast");
  BAD("add", ({}), (T{f32({2}), {FV_INT32, {2}}}), "input 0 is float32 but input 1 is int32");
  OK("less", ({}), (T{f32({2, 1}), f32({3})}), (T{{FV_BOOL, {2, 3}}}));
  OK("and", ({}), (T{{FV_BOOL, {2}}, {FV_BOOL, {1}}}), (T{{FV_BOOL, {2}}}));
  BAD("xor", ({}), (T{f32({2}), f32({2})}), "expected bool");
  OK("where", ({}), (T{{FV_BOOL, {2, 1}}, f32({3}), f32({})}), T{f32({2, 3})});
  OK("prelu", ({}), (T{f32({1, 4, 2, 2}), f32({4, 1, 1})}), T{f32({1, 4, 2, 2})});
  BAD("prelu", ({}), (T{f32({4, 1}), f32({4, 3})}), "does not broadcast to input");
  OK("cast", ({{"dtype", std::string("int64")}}), (T{f32({2})}), (T{{FV_INT64, {2}}}));
  BAD("cast", ({{"dtype", std::string("float31")}}), (T{f32({2})}), "float31");
  OK("clip", ({{"max", int64_t{6}}}), (T{f32({2})}), T{f32({2})});  // an integer where a float goes
}

void test_matmul() {
  OK("matmul", ({}), (T{f32({2, 3}), f32({3, 4})}), T{f32({2, 4})});
  OK("matmul", ({{"transpose_a", int64_t{1}}, {"transpose_b", int64_t{1}}}),
     (T{f32({3, 2}), f32({4, 3})}), T{f32({2, 4})});
  OK("matmul", ({}), (T{f32({5, 1, 2, 3}), f32({6, 3, 4}), f32({4})}), T{f32({5, 6, 2, 4})});
  OK("matmul", ({}), (T{f32({3}), f32({3})}), T{f32({})});
  OK("matmul", ({}), (T{f32({3}), f32({2, 3, 4})}), T{f32({2, 4})});
  OK("matmul", ({}), (T{f32({2, 5, 3}), f32({3})}), T{f32({2, 5})});
  OK("matmul", ({}), (T{f32({U, U}), f32({3, 4})}), T{f32({U, 4})});
  BAD("matmul", ({}), (T{f32({2, 3}), f32({4, 3})}), "inner dimensions 3 and 4");
  BAD("matmul", ({}), (T{f32({}), f32({3})}), "rank >= 1");
  BAD("matmul", ({}), (T{f32({2, 3}), f32({3, 4}), f32({5, 2, 4})}), "bias");
}

void test_reductions() {
  const TensorType x = f32({2, 3, 4});
  OK("reduce_mean", ({}), T{x}, T{f32({1, 1, 1})});
  OK("reduce_sum", ({{"axes", Ints{-1, 0}}, {"keepdims", int64_t{0}}}), T{x}, T{f32({3})});
  OK("reduce_max", ({{"keepdims", int64_t{0}}}), T{x}, T{f32({})});
  BAD("reduce_sum", ({{"axes", Ints{1, -2}}}), T{x}, "axis 1 is named twice");
  BAD("reduce_sum", ({{"axes", Ints{3}}}), T{x}, "axis 3 is outside [-3, 3)");
  OK("argmax", ({{"axis", int64_t{1}}}), T{x}, (T{{FV_INT64, {2, 1, 4}}}));
  OK("argmin", ({{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}}), T{x}, (T{{FV_INT64, {2, 3}}}));
  BAD("argmax", ({{"axis", int64_t{1}}}), (T{f32({2, 0})}), "is empty");
  OK("softmax", ({}), T{x}, T{x});
  BAD("softmax", ({{"axis", INT64_MIN}}), T{x}, "outside");
  BAD("softmax", ({}), (T{f32({})}), "axis -1 is outside");
}

void test_norms() {
  const TensorType x = f32({2, 3, 4, 5}), c = f32({3});
  OK("batch_norm", ({}), (T{x, c, c, c, c}), T{x});
  BAD("batch_norm", ({}), (T{x, c, c, f32({4}), c}), "mean has 4 elements, the input has 3");
  BAD("batch_norm", ({{"epsilon", -1.0}}), (T{x, c, c, c, c}), "epsilon");
  BAD("batch_norm", ({{"epsilon", std::numeric_limits<double>::quiet_NaN()}}), (T{x, c, c, c, c}),
      "epsilon");
  OK("instance_norm", ({}), (T{x, c, c}), T{x});
  OK("layer_norm", ({}), (T{x}), T{x});
  OK("layer_norm", ({{"axis", int64_t{2}}}), (T{x, f32({4, 5}), {0, {}}}), T{x});
  BAD("layer_norm", ({}), (T{x, f32({4})}), "do not broadcast");
  OK("l2_normalize", ({{"axis", int64_t{1}}}), T{x}, T{x});
}

void test_movement() {
  const TensorType x = f32({2, 3, 4});
  OK("transpose", ({}), T{x}, T{f32({4, 3, 2})});
  OK("transpose", ({{"perm", Ints{1, 0, 2}}}), (T{f32({U, 3, 4})}), T{f32({3, U, 4})});
  BAD("transpose", ({{"perm", Ints{0, 0, 1}}}), T{x}, "named twice");
  BAD("transpose", ({{"perm", Ints{0, 1}}}), T{x}, "perm has 2 entries");
  OK("reshape", ({{"shape", Ints{0, -1}}}), T{x}, T{f32({2, 12})});
  OK("reshape", ({{"shape", Ints{0, -1}}}), (T{f32({U, 3, 4})}), T{f32({U, 12})});
  OK("reshape", ({{"shape", Ints{-1, 4}}}), (T{f32({U, 3, 4})}), T{f32({U, 4})});
  OK("reshape", ({{"shape", Ints{}}}), (T{f32({1, 1})}), T{f32({})});
  BAD("reshape", ({{"shape", Ints{5, -1}}}), T{x}, "cannot take the shape [5, -1]");
  BAD("reshape", ({{"shape", Ints{-1, -1}}}), T{x}, "more than one -1");
  BAD("reshape", ({{"shape", Ints{25}}}), T{x}, "cannot take");
  BAD("reshape", ({{"shape", Ints{1, 1, 1, 0}}}), T{x}, "copies dimension 3");
  BAD("reshape", ({{"shape", Ints{int64_t{1} << 40, int64_t{1} << 40}}}), T{x}, "too large");
  BAD("reshape", ({{"shape", Ints(9, 1)}}), (T{f32({1})}), "rank is 9");
  OK("squeeze", ({}), (T{f32({1, 3, 1})}), T{f32({3})});
  OK("squeeze", ({{"axes", Ints{-1}}}), (T{f32({1, 3, 1})}), T{f32({1, 3})});
  BAD("squeeze", ({{"axes", Ints{1}}}), (T{f32({1, 3, 1})}), "is not 1");
  OK("unsqueeze", ({{"axes", Ints{0, -1}}}), (T{f32({3, U})}), T{f32({1, 3, U, 1})});
  BAD("unsqueeze", ({{"axes", Ints{5}}}), T{x}, "outside");
  OK("flatten", ({}), T{x}, T{f32({2, 12})});
  OK("flatten", ({{"axis", int64_t{3}}}), T{x}, T{f32({24, 1})});
  OK("flatten", ({{"axis", int64_t{0}}}), T{x}, T{f32({1, 24})});
  OK("expand", ({{"shape", Ints{5, 1, 3, 1}}}), T{x}, T{f32({5, 2, 3, 4})});
  BAD("expand", ({{"shape", Ints{3, 4, 4}}}), T{x}, "do not broadcast");
  OK("tile", ({{"repeats", Ints{2, 1, 3}}}), T{x}, T{f32({4, 3, 12})});
  BAD("tile", ({{"repeats", Ints{2}}}), T{x}, "expected 3 integers");
  OK("concat", ({{"axis", int64_t{-1}}}), (T{x, f32({2, 3, 1})}), T{f32({2, 3, 5})});
  OK("concat", ({{"axis", int64_t{0}}}), (T{f32({U, 3}), f32({2, U})}), T{f32({U, 3})});
  BAD("concat", ({{"axis", int64_t{0}}}), (T{x, f32({2, 3, 1})}), "does not join");
  OK("split", ({{"axis", int64_t{1}}, {"sizes", Ints{1, 2}}}), T{x},
     (T{f32({2, 1, 4}), f32({2, 2, 4})}));
  BAD("split", ({{"axis", int64_t{1}}, {"sizes", Ints{4}}}), T{x}, "sizes sum to 4");
  OK("slice",
     ({{"axes", Ints{2}}, {"begin", Ints{-3}}, {"end", Ints{INT64_MAX}}, {"step", Ints{2}}}), T{x},
     T{f32({2, 3, 2})});
  OK("slice",
     ({{"axes", Ints{2}}, {"begin", Ints{-1}}, {"end", Ints{INT64_MIN}}, {"step", Ints{-1}}}), T{x},
     T{f32({2, 3, 4})});
  OK("slice", ({{"axes", Ints{0}}, {"begin", Ints{5}}, {"end", Ints{9}}, {"step", Ints{1}}}), T{x},
     T{f32({0, 3, 4})});
  BAD("slice", ({{"axes", Ints{0}}, {"begin", Ints{0}}, {"end", Ints{1}}, {"step", Ints{0}}}), T{x},
      "step is 0");
  BAD("slice", ({{"axes", Ints{0}}, {"begin", Ints{0}}}), T{x}, "expected one length");
  OK("pad", ({{"pads", Ints{0, 1, 2, 0, 0, -3}}}), T{x}, T{f32({2, 4, 3})});
  BAD("pad", ({{"pads", Ints{0, 0, 0, 0, 0, -5}}}), T{x}, "remove more than");
  BAD("pad", ({{"pads", Ints{0, 0, 4, 0, 0, 0}}, {"mode", std::string("reflect")}}), T{x},
      "reflection by 4 does not fit");
  OK("gather", ({{"axis", int64_t{1}}}), (T{x, {FV_INT64, {5, 6}}}), T{f32({2, 5, 6, 4})});
  BAD("gather", ({}), (T{x, f32({2})}), "indices are float32");
  OK("depth_to_space", ({}), (T{f32({1, 8, 3, 2})}), T{f32({1, 2, 6, 4})});
  BAD("depth_to_space", ({}), (T{f32({1, 6, 3, 2})}), "6 channels do not divide");
  OK("space_to_depth", ({}), (T{f32({1, 2, 6, 4})}), T{f32({1, 8, 3, 2})});
  OK("resize", ({{"size", Ints{6, 5}}}), (T{f32({1, 2, 3, U})}), T{f32({1, 2, 6, 5})});
  OK("resize", ({{"scale", Floats{2, 0.5}}}), (T{f32({1, 2, 3, 5})}), T{f32({1, 2, 6, 2})});
  BAD("resize", ({}), (T{f32({1, 2, 3, 5})}), "neither size nor scale");
  BAD("resize", ({{"scale", Floats{0.0, 1.0}}}), (T{f32({1, 2, 3, 5})}), "positive");
}

void test_raster_bounds() {
  auto attrs = [](Ints regions) {
    return Attrs{{"shape", Ints{2, 3}}, {"rank", int64_t{1}}, {"regions", std::move(regions)}};
  };
  const T x{f32({6})};
  run({"raster", attrs({0, 0, 0, 6, 1, 1}), x, {f32({2, 3})}, ""}, __LINE__);
  run({"raster", attrs({0, 5, 0, 6, -1, 1}), x, {f32({2, 3})}, ""}, __LINE__);
  run({"raster", attrs({}), x, {f32({2, 3})}, ""}, __LINE__);
  run({"raster", attrs({0, 1, 0, 6, 1, 1}), x, {}, "reads outside"}, __LINE__);
  run({"raster", attrs({0, 0, 0, 6, -1, 1}), x, {}, "reads outside"}, __LINE__);
  run({"raster", attrs({0, 0, 1, 6, 1, 1}), x, {}, "writes outside"}, __LINE__);
  run({"raster", attrs({0, 0, 0, 6, 1, 2}), x, {}, "writes outside"}, __LINE__);
  run({"raster", attrs({1, 0, 0, 6, 1, 1}), x, {}, "input 1 of 1"}, __LINE__);
  run({"raster", attrs({-1, 0, 0, 6, 1, 1}), x, {}, "input -1 of 1"}, __LINE__);
  run({"raster", attrs({0, 0, 0, 6, 1}), x, {}, "multiple of 6"}, __LINE__);
  run({"raster", attrs({0, INT64_MAX, 0, 6, INT64_MAX, 1}), x, {}, "reads outside"}, __LINE__);
  run({"raster", attrs({0, 0, 0, INT64_MAX, INT64_MIN, INT64_MAX}), x, {}, "outside"}, __LINE__);
  run({"raster", attrs({0, 0, 0, 6, 1, 1, 0, 0, 5, 1, 1, 1}), x, {}, "overlap"}, __LINE__);
  run({"raster", attrs({0, 0, 0, 9, 0, 0}), x, {}, "overlap"}, __LINE__);
  run({"raster", {{"rank", int64_t{0}}}, x, {}, "rank is [0]"}, __LINE__);
  run({"raster", {{"rank", INT64_MAX}}, x, {}, "rank is"}, __LINE__);
}

// Whatever the attributes hold, inference answers and does not crash (run under sanitizers).
void test_hostile_attributes() {
  const std::vector<TensorType> shapes{f32({}),
                                       f32({0}),
                                       f32({3}),
                                       f32({U, U, U, U}),
                                       f32({1, 3, 7, 5}),
                                       f32({4, 3, 3, 3}),
                                       f32({1, int64_t{1} << 28, 1, 2}),
                                       {FV_INT64, {2}},
                                       {FV_BOOL, {1, 3, 7, 5}}};
  test::Random r(1);
  for (const OpDef& def : op_table().defs())
    for (int round = 0; round < 400; ++round) {
      Attrs attrs = test::odd_attrs(def, r);
      std::vector<const TensorType*> in;
      for (size_t i = 0; i < def.inputs.size(); ++i)
        in.push_back(&shapes[static_cast<size_t>(r.in(0, 8))]);
      const size_t outputs = def.outputs.size() + static_cast<size_t>(r.in(0, 1));
      auto got = infer_op(def.name, attrs, in, outputs);
      if (!got.ok()) CHECK(got.status().code() != FV_INTERNAL);
    }
}

void test_table() {
  const std::string json = ops_json();
  const auto& defs = op_table().defs();
  CHECK(defs.size() >= 80);
  for (size_t i = 0; i < defs.size(); ++i) {
    if (i) CHECK(defs[i - 1].name < defs[i].name);
    CHECK(!defs[i].doc.empty() && defs[i].doc.back() == '.');
    CHECK(op_table().find(defs[i].name) == &defs[i]);
    CHECK(json.find("{\"name\": \"" + defs[i].name + "\", \"version\": 1") != std::string::npos);
    for (const AttrDef& a : defs[i].attrs) CHECK(!a.doc.empty());
    if (defs[i].traits & kMovement) CHECK(defs[i].decompose || defs[i].name == "raster");
    if (defs[i].traits & kView) CHECK(!defs[i].decompose);
  }
  CHECK(!op_table().find("no_such_op"));
  CHECK(json.find("\"default\": -1e999") != std::string::npos);
}

void test_input_dims() {
  Graph g;
  const int a = g.add_value("a", f32({U, 4}), {"batch", ""});
  const int b = g.add_value("b", f32({U, 4}), {"batch", ""});
  const int y = g.add_value("y", f32({U, 4}));
  g.add_node("add", "sum", {a, b}, {y});
  g.inputs = {a, b};
  g.outputs = {y};
  CHECK_OK(infer_graph(g));
  CHECK_EQ(g.type(y).dims, (Dims{U, 4}));
  Graph concrete = g;
  CHECK_OK(infer_graph(concrete, {{3, 4}, {3, 4}}));
  CHECK_EQ(concrete.type(y).dims, (Dims{3, 4}));
  Graph bad = g;
  CHECK_ERROR(infer_graph(bad, {{3, 4}, {2, 4}}), FV_SHAPE_ERROR,
              "dimension 'batch' is 3 in input 'a' and 2 in input 'b'");
  bad = g;
  CHECK_ERROR(infer_graph(bad, {{3, 4}, {3, 5}}), FV_SHAPE_ERROR,
              "input 'b' has shape [3, 5], expected [?, 4]");
  bad = g;
  CHECK_ERROR(infer_graph(bad, {{3, 4}}), FV_INVALID_ARGUMENT,
              "shapes of 1 inputs given, the model has 2");
  bad = g;
  bad.value(b).type.dims = {U, 5};
  CHECK_ERROR(infer_graph(bad), FV_SHAPE_ERROR, "add 'sum': shapes [?, 4] and [?, 5]");
}

}  // namespace

int main() {
  test_windows();
  test_pointwise();
  test_matmul();
  test_reductions();
  test_norms();
  test_movement();
  test_raster_bounds();
  test_hostile_attributes();
  test_table();
  test_input_dims();
  return CHECK_RESULT();
}
