// The tensor's description: checked against the spec, turned into strides.
#include "base/tensor_type.h"
#include "imgproc/plan.h"

namespace foveal::imgproc {

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

Result<Store> make_store(const Spec& spec, const fv_tensor& input, fv_axis_order order) {
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
  if (input.dtype != FV_FLOAT32 && input.dtype != FV_UINT8)
    return refuse(FV_SPEC_ERROR,
                  format("dtype %s is not available in this build", dtype_name(input.dtype)),
                  "use float32 or uint8");
  Store s;
  s.dtype = input.dtype;
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

}  // namespace foveal::imgproc
