// The tensor's description: checked against the spec, turned into strides.
#include <algorithm>
#include <cmath>

#include "base/tensor_type.h"
#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

struct WholeRange {
  fv_dtype dtype;
  int low, high;
};
constexpr WholeRange kWhole[] = {
    {FV_INT8, -128, 127}, {FV_UINT8, 0, 255}, {FV_INT16, -32768, 32767}};

Status set_elements(fv_dtype dtype, const Quantization& q, Store& s) {
  const auto refuse = [](const std::string& message, const char* hint = "") {
    return Status(FV_SPEC_ERROR, "image plan: tensor: " + message, hint);
  };
  s.dtype = dtype;
  const bool quantized = q.scale != 1 || q.zero_point != 0;
  const WholeRange* range = std::find_if(std::begin(kWhole), std::end(kWhole),
                                         [&](const WholeRange& row) { return row.dtype == dtype; });
  if (range == std::end(kWhole)) {
    if (dtype != FV_FLOAT32 && dtype != FV_FLOAT16 && dtype != FV_BFLOAT16)
      return refuse(format("dtype %s is not available in this build", dtype_name(dtype)),
                    "use float32, float16, bfloat16, uint8, int8 or int16");
    if (quantized)
      return refuse(format("dtype %s takes no quantisation", dtype_name(dtype)),
                    "scale and zero point belong to uint8, int8 and int16");
    return ok();
  }
  if (!std::isfinite(q.scale) || !(q.scale > 0))
    return refuse(format("quantisation: scale: expected a finite number above 0, got %g", q.scale));
  if (q.zero_point < range->low || q.zero_point > range->high)
    return refuse(format("quantisation: zero point: expected one within %s, %d to %d, got %d",
                         dtype_name(dtype), range->low, range->high, q.zero_point));
  s.whole = quantized || dtype != FV_UINT8;
  s.low = static_cast<float>(range->low - q.zero_point);
  s.high = static_cast<float>(range->high - q.zero_point);
  s.zero = static_cast<float>(q.zero_point);
  return ok();
}

}  // namespace

Status read_tensor_size(const fv_tensor& input, fv_axis_order order, Spec& spec) {
  if (!spec.flexible() || input.rank != 4 || (order != FV_NCHW && order != FV_NHWC)) return ok();
  const int64_t height = input.dims[order == FV_NCHW ? 2 : 1];
  const int64_t width = input.dims[order == FV_NCHW ? 3 : 2];
  if (height == kUnknown || width == kUnknown)
    return Status(
        FV_SHAPE_ERROR,
        "image plan: tensor: the spec's size depends on the frame: expected a known width "
        "and height, got " +
            to_string(Dims(input.dims, input.dims + 4)),
        "fv_image_spec_size gives the size for a frame");
  FV_TRY(check_tensor_size(spec, width, height));
  spec.width = static_cast<int>(width);
  spec.height = static_cast<int>(height);
  return ok();
}

Result<Store> make_store(const Spec& spec, const fv_tensor& input, fv_axis_order order,
                         const Quantization& quantization) {
  const auto refuse = [](fv_code code, const std::string& message, const char* hint = "") {
    return Status(code, "image plan: tensor: " + message, hint);
  };
  if (order != FV_NCHW && order != FV_NHWC)
    return refuse(FV_INVALID_ARGUMENT,
                  format("axis order: expected NCHW (0) or NHWC (1), got %d", order));
  if (input.rank != 4)
    return refuse(FV_SHAPE_ERROR, format("expected 4 dimensions, got %d", input.rank));
  const int channels = spec.channels();
  const int64_t nchw[4] = {1, channels, spec.height, spec.width};
  const int64_t nhwc[4] = {1, spec.height, spec.width, channels};
  const int64_t* want = order == FV_NCHW ? nchw : nhwc;
  for (int i = 0; i < 4; ++i)
    if (input.dims[i] != want[i] && input.dims[i] != kUnknown)
      return refuse(FV_SHAPE_ERROR,
                    "expected " + to_string(Dims(want, want + 4)) + ", got " +
                        to_string(Dims(input.dims, input.dims + 4)),
                    "the spec's size is [width, height]; its color gives the channels");
  Store s;
  FV_TRY(set_elements(input.dtype, quantization, s));
  s.channels = channels;
  const int64_t w = spec.width, h = spec.height;
  TensorType type{input.dtype, Dims(want, want + 4)};
  fv_layout layout = input.layout;
  if (layout.id == FV_LAYOUT_ANY) layout = kPlain;
  if (layout.id == FV_LAYOUT_NCXHWX) {
    if (order != FV_NCHW || layout.block < 1 || layout.block > 64)
      return refuse(FV_SPEC_ERROR, "blocked layout: expected NCHW dimensions and a block of 1..64");
    const int64_t x = layout.block;
    s.row = w * x;
    s.pixel = x;
    for (int c = 0; c < channels; ++c) s.component[c] = c / x * h * w * x + c % x;
    s.lanes = x >= channels ? static_cast<int>(x) : 0;
    if (x == 2 && channels == 3) s.lanes = -1;  // second block: lane 1 is padding
  } else if (layout.id == FV_LAYOUT_PLAIN) {
    s.row = order == FV_NCHW ? w : w * channels;
    s.pixel = order == FV_NCHW ? 1 : channels;
    for (int c = 0; c < channels; ++c) s.component[c] = order == FV_NCHW ? c * h * w : c;
  } else {
    return refuse(FV_SPEC_ERROR, "layout " + to_string(layout) + " is not available in this build",
                  "use plain or a channel-blocked layout");
  }
  const int64_t bytes = storage_bytes(type, layout);
  if (bytes < 0) return refuse(FV_SHAPE_ERROR, "its size overflows");
  s.bytes = static_cast<uint64_t>(bytes);
  return s;
}

Status make_finish(const Quantization& q, Plan& p) {
  const Spec& spec = p.spec;
  Run& r = p.run;
  r.store = p.store;
  r.round = spec.intermediate == Intermediate::kU8;
  r.plain = p.store.dtype == FV_UINT8 && !p.store.whole;
  for (int c = 0; c < spec.channels(); ++c) {
    const size_t i = static_cast<size_t>(c);
    r.scale[c] = static_cast<float>(spec.norm_scale / spec.norm_std[i] / q.scale);
    // 0 - x: never -0, which would show the sign of a level of 0 in the tensor.
    r.bias[c] = static_cast<float>(0 - spec.norm_mean[i] / spec.norm_std[i] / q.scale);
    if (!std::isfinite(255 * r.scale[c] + r.bias[c]))
      return Status(FV_SPEC_ERROR,
                    format("image plan: tensor: quantisation: scale %g is too small for the "
                           "pipeline's norm",
                           q.scale));
    r.plain = r.plain && r.scale[c] == 1 && r.bias[c] == 0;
    if (i < spec.pad.size()) r.pad[c] = static_cast<float>(spec.pad[i]);
    if (i < spec.border_value.size()) r.border[c] = static_cast<float>(spec.border_value[i]);
  }
  // Of 256 levels only 256 elements can come: found once, in f64.
  r.table = r.round && !r.plain && (p.store.whole || p.store.dtype == FV_UINT8);
  for (int c = 0; c < spec.channels() && r.table; ++c) {
    const size_t i = static_cast<size_t>(c);
    for (int level = 0; level < 256; ++level) {
      const double y = (level * spec.norm_scale - spec.norm_mean[i]) / spec.norm_std[i];
      const double steps =
          std::clamp(std::nearbyint(y / q.scale), double{p.store.low}, double{p.store.high});
      p.table[c][level] = static_cast<uint16_t>(static_cast<int32_t>(steps + p.store.zero));
    }
  }
  return ok();
}

}  // namespace foveal::imgproc
