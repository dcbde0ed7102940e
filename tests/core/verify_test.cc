// The verifier: everything a graph can get wrong, one defect at a time.
#include "graph/verify.h"

#include <cmath>
#include <functional>
#include <tuple>

#include "check.h"

using namespace foveal;

namespace {

// x -> conv2d(w) -> relu -> y, a valid graph that each case spoils.
struct Sample {
  Graph g;
  int x, w, conv, y;
  Sample() {
    x = g.add_value("x", {FV_FLOAT32, {1, 2, 4, 4}}, {"batch", "", "", ""});
    const std::vector<float> zeros(3 * 2 * 3 * 3);
    w = g.add_constant("w", {FV_FLOAT32, {3, 2, 3, 3}}, zeros.data());
    conv = g.add_value("conv", {FV_FLOAT32, {1, 3, 2, 2}});
    y = g.add_value("y", {FV_FLOAT32, {1, 3, 2, 2}});
    g.add_node("conv2d", "backbone/3", {x, w}, {conv}, {{"stride", Ints{1, 1}}});
    g.add_node("relu", "act", {conv}, {y});
    g.inputs = {x};
    g.outputs = {y};
    g.meta["labels"] = "[]";
  }
};

void bad(const std::function<void(Sample&)>& spoil, fv_code code, const std::string& text,
         int line) {
  Sample s;
  spoil(s);
  test::check_error(verify(s.g), code, text, __FILE__, line);
}
#define BAD(change, code, text) bad([&](Sample& s) { change; }, code, text, __LINE__)

void test_valid() {
  Sample s;
  std::swap(s.g.nodes[0], s.g.nodes[1]);
  s.g.value(s.y).type.dtype = 0;  // undeclared
  CHECK_OK(verify(s.g));
  CHECK_EQ(s.g.nodes[0].op, "conv2d");
  CHECK_EQ(s.g.nodes[0].attrs.size(), size_t{4});
  CHECK_EQ(s.g.nodes[0].attrs[3].name, "group");
  CHECK_EQ(s.g.type(s.y), (TensorType{FV_FLOAT32, {1, 3, 2, 2}}));
  CHECK_EQ(activation_bytes(s.g), uint64_t{4 * (32 + 12 + 12)});
  CHECK_OK(verify(s.g));  // again: a verified graph stays valid
}

void test_values() {
  BAD(s.g.value(s.x).name = "", FV_MODEL_ERROR, "value 0 has no name");
  BAD(s.g.value(s.x).name = "\xff", FV_MODEL_ERROR, "UTF-8");
  BAD(s.g.value(s.x).name = std::string("a\0b", 3), FV_MODEL_ERROR, "UTF-8");
  BAD(s.g.value(s.x).name = "\xed\xa0\x80", FV_MODEL_ERROR, "UTF-8");  // a surrogate
  BAD(s.g.value(s.x).name = "\xe0\x80\xaf", FV_MODEL_ERROR, "UTF-8");  // overlong
  BAD(s.g.value(s.x).name = "y", FV_MODEL_ERROR, "two values have the name 'y'");
  BAD(s.g.value(s.x).type.dtype = 99, FV_MODEL_ERROR, "element type 99");
  BAD(s.g.value(s.x).type.dtype = 0, FV_MODEL_ERROR, "element type 0");
  BAD(s.g.value(s.x).type.dims[0] = -2, FV_SHAPE_ERROR, "dimension -2");
  BAD(s.g.value(s.x).type.dims.assign(9, 1), FV_SHAPE_ERROR, "rank is 9");
  BAD(s.g.value(s.x).type.dims.assign(4, int64_t{1} << 40), FV_SHAPE_ERROR, "overflows");
  BAD(s.g.value(s.x).dim_names.pop_back(), FV_MODEL_ERROR, "3 dimension names and rank 4");
  BAD(s.g.value(s.x).dim_names[0] = "\x80", FV_MODEL_ERROR, "dimension name");
  BAD(s.g.value(s.w).constant.bytes = 100, FV_MODEL_ERROR,
      "constant 'w' holds 100 bytes, float32[3, 2, 3, 3] takes 216");
  BAD(s.g.value(s.w).type.dims[0] = kUnknown, FV_MODEL_ERROR, "incomplete shape");
  BAD(s.g.value(s.w).type.dims = Dims(4, int64_t{1} << 30), FV_SHAPE_ERROR, "overflows");
  BAD(s.g.value(s.w).constant.data =
          "misaligned" + (reinterpret_cast<uintptr_t>("misaligned") % 2 ? 0 : 1),
      FV_MODEL_ERROR, "not aligned");
  BAD(const unsigned char two = 2; s.g.add_constant("flag", {FV_BOOL, {1}}, &two), FV_MODEL_ERROR,
                                   "bool and holds bytes above 1");
  BAD(s.g.meta["k"] = "\xc0", FV_MODEL_ERROR, "metadata");
}

void test_quantization() {
  const auto quantized = [](Sample& s, fv_dtype dtype, double scale, int zero_point) {
    s.g.value(s.g.inputs.emplace_back(s.g.add_value("q", {dtype, {2}}))).quantization = {
        scale, zero_point};
  };
  for (const auto& [dtype, low, high] :
       {std::tuple{FV_UINT8, 0, 255}, {FV_INT8, -128, 127}, {FV_INT16, -32768, 32767}}) {
    for (const int zero_point : {low, 0, high}) {
      Sample s;
      quantized(s, dtype, 0.1, zero_point);
      CHECK_OK(verify(s.g));
    }
    BAD(quantized(s, dtype, 0.1, low - 1), FV_MODEL_ERROR, "value 'q': zero point: expected");
    BAD(quantized(s, dtype, 0.1, high + 1), FV_MODEL_ERROR, "value 'q': zero point: expected");
  }
  BAD(quantized(s, FV_UINT8, -1, 0), FV_MODEL_ERROR, "scale: expected a finite number above 0");
  BAD(quantized(s, FV_UINT8, NAN, 0), FV_MODEL_ERROR, "scale: expected a finite number above 0");
  BAD(quantized(s, FV_UINT8, INFINITY, 0), FV_MODEL_ERROR, "scale: expected a finite number");
  BAD(quantized(s, FV_FLOAT32, 0.1, 0), FV_MODEL_ERROR, "expected uint8, int8 or int16, got");
}

void test_edges() {
  BAD(s.g.inputs = {99}, FV_MODEL_ERROR, "refers to value 99 of 4");
  BAD(s.g.inputs = {-1}, FV_MODEL_ERROR, "refers to value -1");
  BAD((s.g.inputs = {s.x, s.x}), FV_MODEL_ERROR, "'x' is produced twice");
  BAD((s.g.inputs = {s.x, s.w}), FV_MODEL_ERROR, "'w' is a constant already");
  BAD(s.g.inputs = {}, FV_MODEL_ERROR, "nothing produces value 'x'");
  BAD(s.g.outputs = {}, FV_MODEL_ERROR, "no outputs");
  BAD(s.g.outputs = {4}, FV_MODEL_ERROR, "refers to value 4");
  BAD(s.g.outputs = {s.g.add_value("z", {})}, FV_MODEL_ERROR, "nothing produces value 'z'");
  BAD(s.g.nodes[1].outputs[0] = s.conv, FV_MODEL_ERROR,
      "relu 'act': value 'conv' is produced twice");
  BAD(s.g.nodes[1].outputs[0] = s.w, FV_MODEL_ERROR, "constant");
  BAD(s.g.nodes[1].outputs[0] = -1, FV_MODEL_ERROR, "relu 'act' refers to value -1");
  BAD(s.g.nodes[1].inputs[0] = INT32_MIN, FV_MODEL_ERROR, "refers to value");
  BAD(s.g.nodes[0].inputs[0] = s.y, FV_MODEL_ERROR, "needs its own result");
  BAD(s.g.nodes[0].inputs[1] = -1, FV_MODEL_ERROR, "input 1 is missing");
  BAD(s.g.nodes[0].inputs.resize(1), FV_MODEL_ERROR, "conv2d 'backbone/3': input 1 is missing");
  BAD(s.g.nodes[1].outputs.push_back(s.g.add_value("extra", {})), FV_MODEL_ERROR, "2 outputs");
  BAD(s.g.nodes[1].outputs.clear(), FV_MODEL_ERROR, "");
  BAD(s.g.nodes[1].op = "", FV_MODEL_ERROR, "no operator");
  BAD(s.g.nodes[1].name = "\xf8", FV_MODEL_ERROR, "UTF-8");
}

void test_operators() {
  BAD(s.g.nodes[0].version = 0, FV_MODEL_ERROR, "version is 0");
  BAD(s.g.nodes[0].version = 9, FV_UNSUPPORTED_OP, "conv2d version 9 (known: 1)");
  BAD(s.g.nodes[1].op = "relayout", FV_UNSUPPORTED_OP, "operator 'relayout'");
  BAD(s.g.nodes[0].attrs[0].name = "strides", FV_UNSUPPORTED_OP, "attribute 'strides' of conv2d");
  BAD(s.g.nodes[0].attrs[0].value = 1.5, FV_MODEL_ERROR,
      "conv2d 'backbone/3': attribute 'stride' is a float, expected a list of integers");
  BAD(s.g.nodes[0].attrs.push_back(s.g.nodes[0].attrs[0]), FV_MODEL_ERROR, "given twice");
  BAD(s.g.nodes[0].attrs[0].value = Ints(2, 0), FV_SHAPE_ERROR, "conv2d 'backbone/3': stride is");
  BAD(s.g.value(s.y).type.dims[1] = 4, FV_MODEL_ERROR,
      "value 'y' is declared float32[1, 4, 2, 2], its operator makes float32[1, 3, 2, 2]");
  BAD(s.g.value(s.y).type.dtype = FV_INT32, FV_MODEL_ERROR, "declared int32");
}

void test_everything_unsupported_is_listed() {
  Sample s;
  s.g.nodes[0].op = "fancy_conv";
  s.g.nodes[1].attrs = {{"slope", 1.0}};
  const int z = s.g.add_value("z", {}), z2 = s.g.add_value("z2", {});
  s.g.add_node("fancy_conv", "again", {s.y}, {z});
  s.g.add_node("other", "", {z}, {z2});
  const Status status = verify(s.g);
  CHECK_ERROR(status, FV_UNSUPPORTED_OP,
              "3 operators or attributes are not supported: operator 'fancy_conv' "
              "(node 'backbone/3') x2; attribute 'slope' of relu (node 'act'); operator 'other'");
  CHECK_EQ(status.get()->op, "fancy_conv");
  CHECK(!status.get()->hint.empty());
}

void test_memory_limit() {
  Graph g;
  const int x = g.add_value("x", {FV_FLOAT32, {1}});
  const int y = g.add_value("y", {0, {}});
  g.add_node("tile", "bomb", {x}, {y}, {{"repeats", Ints{int64_t{1} << 30}}});
  g.inputs = {x};
  g.outputs = {y};
  Graph small = g;
  CHECK_OK(verify(small));
  VerifyOptions options;
  options.max_activation_bytes = 1 << 20;
  CHECK_ERROR(verify(g, options), FV_MODEL_ERROR, "activations take 4.3 GB, the limit is 0.0 GB");
}

void test_unknown_dimensions() {
  Sample s;
  s.g.value(s.x).type.dims = {kUnknown, 2, kUnknown, 4};
  CHECK_OK(verify(s.g));
  // Inference cannot know the height, so the declared one stands.
  CHECK_EQ(s.g.type(s.conv).dims, (Dims{1, 3, 2, 2}));
}

}  // namespace

int main() {
  test_valid();
  test_values();
  test_quantization();
  test_edges();
  test_operators();
  test_everything_unsupported_is_listed();
  test_memory_limit();
  test_unknown_dimensions();
  return CHECK_RESULT();
}
