// Pipeline specs: read, plan for some tensor, run on a small frame, read the canonical text again;
// flexible sizes follow the frame.
#include <array>
#include <memory>
#include <string>

#include "foveal/imgproc.h"
#include "fuzz.h"

using namespace foveal::fuzz;

namespace {

constexpr uint64_t kMaxBytes = 1 << 18;  // of a tensor that is worth running

// A frame in buffers of exact size.
struct Picture {
  explicit Picture(Bytes& in) {
    const int width = in.range(1, 40), height = in.range(1, 40);
    const bool yuv = in.range(0, 1) != 0;
    const size_t luma = static_cast<size_t>(width) * static_cast<size_t>(height);
    const size_t chroma = static_cast<size_t>((width + 1) / 2 * ((height + 1) / 2)) * 2;
    pixels = exact(yuv ? luma : luma * 3);
    colors = exact(chroma);
    frame.abi = FV_ABI_INIT(fv_frame);
    frame.format = yuv ? FV_NV12 : FV_RGB;
    frame.width = width;
    frame.height = height;
    frame.rotation = 90 * in.range(0, 3);
    frame.mirror = in.range(0, 1);
    frame.matrix = in.range(0, 3);
    frame.range = in.range(0, 2);
    frame.plane_count = yuv ? 2 : 1;
    frame.planes[0] = {pixels.get(), yuv ? luma : luma * 3, 0, 0};
    if (yuv) frame.planes[1] = {colors.get(), chroma, 0, 0};
    for (double& v : roi.v) v = in.range(-100, 100);
    in.fill(pixels.get(), yuv ? luma : luma * 3);
    in.fill(colors.get(), chroma);
  }
  std::unique_ptr<uint8_t[]> pixels, colors;
  fv_frame frame{};
  fv_roi roi{FV_ROI_ROTATED, 0, {}};
};

// The size that a spec, perhaps a flexible one, wants for the frame; {0, 0} where it refuses.
std::array<int32_t, 2> size_of(const fv_image_spec* spec, const Picture& p, const fv_roi* roi) {
  std::array<int32_t, 2> size{};
  if (failed(fv_image_spec_size(spec, &p.frame, roi, size.data()))) return {};
  expect(size[0] > 0 && size[1] > 0, "a spec's size is positive");
  return size;
}

fv_tensor tensor_of(Bytes& in, std::array<int32_t, 2> size, bool nhwc) {
  static constexpr fv_dtype kTypes[] = {FV_FLOAT32, FV_UINT8, FV_FLOAT32, FV_INT8};
  fv_tensor t{};
  t.abi = FV_ABI_INIT(fv_tensor);
  t.dtype = kTypes[in.range(0, 3)];
  t.rank = in.range(0, 9) ? 4 : in.range(0, 5);
  for (int64_t& d : t.dims) d = -1;
  if (size[0]) {
    t.dims[nhwc ? 1 : 2] = size[1];
    t.dims[nhwc ? 2 : 3] = size[0];
  }
  if (in.range(0, 3) == 0)
    for (int i = 0; i < 4; ++i) t.dims[i] = in.range(-2, 70);
  t.layout = {FV_LAYOUT_PLAIN, 0};
  if (in.range(0, 3) == 0) t.layout = {FV_LAYOUT_NCXHWX, in.range(-1, 17)};
  return t;
}

void run(fv_image_plan* plan, const Picture& p) {
  const uint64_t bytes = fv_image_plan_bytes(plan);
  if (bytes > kMaxBytes) return;
  auto out = exact<float>((bytes + 3) / 4);
  fv_transform transform{};
  transform.abi = FV_ABI_INIT(fv_transform);
  for (const fv_roi* r : {static_cast<const fv_roi*>(nullptr), &p.roi})
    if (!failed(fv_image_plan_run(plan, &p.frame, r, out.get(), bytes, nullptr, &transform))) {
      double xy[] = {0, 0, 3.5, -2};
      failed(fv_transform_points(&transform, FV_SPACE_TENSOR, FV_SPACE_SENSOR, xy, 2));
      double box[] = {0, 0, 10, 12};
      failed(fv_transform_boxes(&transform, FV_SPACE_SENSOR, FV_SPACE_TENSOR, box, 1));
      expect(*fv_image_plan_explain(plan), "a plan explains itself");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const std::string_view text = in.text();
  const auto copy = exact_copy(text);
  fv_image_spec* spec = nullptr;
  if (failed(
          fv_image_spec_from_json(reinterpret_cast<const char*>(copy.get()), text.size(), &spec)))
    return 0;
  const std::string canonical = fv_image_spec_json(spec);
  fv_image_spec* again = nullptr;
  expect(!failed(fv_image_spec_from_json(canonical.data(), canonical.size(), &again)),
         "the canonical text of a spec is a spec");
  expect(canonical == fv_image_spec_json(again), "the canonical text of a spec is canonical");
  expect(std::string_view(fv_image_spec_digest(spec)) == fv_image_spec_digest(again),
         "equal specs have equal digests");
  fv_image_spec_free(again);
  const bool nhwc = in.range(0, 1) != 0, with_roi = in.range(0, 1) != 0;
  Bytes decisions = in;
  in.take<uint64_t>();
  const Picture picture(in);
  const auto wanted = size_of(spec, picture, with_roi ? &picture.roi : nullptr);
  const fv_tensor input = tensor_of(decisions, wanted, nhwc);
  fv_image_plan* plan = nullptr;
  if (!failed(fv_image_plan_create(spec, &input, nhwc ? FV_NHWC : FV_NCHW, &plan)))
    run(plan, picture);
  fv_image_plan_free(plan);
  fv_image_spec_free(spec);
  return 0;
}
