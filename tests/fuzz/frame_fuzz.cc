// Descriptions of frames over a buffer of exact size: whatever they say, nothing outside is read,
// or written where a frame is the picture to be made.
#include <vector>

#include "foveal/imgproc.h"
#include "frames.h"
#include "fuzz.h"

using namespace foveal::fuzz;

namespace {

constexpr size_t kBuffer = 4096;

struct Case {
  fv_image_plan* plan;
  bool roi;
  bool picture;  // the plan makes YUV pictures, too
  std::vector<float> out;
};

std::vector<Case>& cases() {
  // Never destroyed: at exit it would be a leak.
  static auto* all = new std::vector<Case>([] {
    static constexpr const char* kSpecs[] = {
        R"({"size":[16,12]})",
        R"({"size":[9,21],"sample":{"k":"nearest"},"color":"BGR"})",
        R"({"size":[64,3],"color":"GRAY","fit":{"k":"letterbox"}})",
        R"({"size":[24,24],"roi":"per_call","border":{"k":"constant","v":7}})",
        R"({"size":[13,13],"fit":{"k":"cover"},"norm":{"scale":0.01}})",
        R"({"size":[17,11],"roi":"per_call","yuv":{"chroma":"linear"}})",
        R"({"size":[19,14],"roi":"per_call","sample":{"k":"lanczos3","antialias":true},"profile":"pillow","intermediate":"u8"})",
        R"({"size":[7,33],"sample":{"k":"area"},"color":"GRAY","fit":{"k":"cover"},"profile":"pillow_12","intermediate":"u8"})",
        R"({"size":[23,9],"sample":{"k":"nearest"},"profile":"pillow","intermediate":"u8"})",
        R"({"size":[33,12],"color":"YUV","yuv":{"to":"bt601-full"}})",
        R"({"size":[20,10],"color":"YUV","yuv":{"to":"bt709-limited"}})",
        R"({"size":[11,15],"color":"YUV","sample":{"k":"area"},"yuv":{"to":"bt2020-full"}})"};
    std::vector<Case> made;
    for (const std::string_view text : kSpecs) {
      for (const fv_dtype type : {FV_FLOAT32, FV_UINT8}) {
        fv_image_spec* spec = nullptr;
        expect(!failed(fv_image_spec_from_json(text.data(), text.size(), &spec)), "spec");
        fv_tensor input{};
        input.abi = FV_ABI_INIT(fv_tensor);
        input.dtype = type;
        input.rank = 4;
        for (int64_t& d : input.dims) d = -1;
        input.layout = {FV_LAYOUT_PLAIN, 0};
        Case c{nullptr,
               text.find("per_call") != text.npos,
               text.find("YUV") != text.npos && type == FV_UINT8,
               {}};
        // Scaled values are no bytes: such a spec has no plan for 8 bits.
        if (!failed(
                fv_image_plan_create(spec, &input, made.size() % 2 ? FV_NHWC : FV_NCHW, &c.plan))) {
          c.out.resize(fv_image_plan_bytes(c.plan) / 4 + 1);
          made.push_back(std::move(c));
        }
        fv_image_spec_free(spec);
      }
    }
    return made;
  }());
  return *all;
}

// A valid frame of RGB bytes.
fv_frame packed() {
  static constexpr int kWidth = 20, kHeight = 10;
  static const std::vector<uint8_t> pixels(3 * kWidth * kHeight, 77);
  return foveal::picture(FV_RGB, kWidth, kHeight, pixels);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  Case& c = cases()[static_cast<size_t>(in.range(0, static_cast<int>(cases().size()) - 1))];
  // Small numbers most of the time: they get further.
  const bool wild = in.range(0, 7) == 0;
  const auto number = [&](int lo, int hi) {
    return wild && in.range(0, 1) ? in.take<int32_t>() : in.range(lo, hi);
  };
  fv_frame frame{};
  frame.abi = FV_ABI_INIT(fv_frame);
  frame.format = number(0, 25);
  frame.width = number(-1, 70);
  frame.height = number(-1, 70);
  frame.rotation = wild ? in.take<int32_t>() : 90 * in.range(0, 3);
  frame.mirror = number(0, 1);
  frame.matrix = number(0, 3);
  frame.range = number(0, 2);
  frame.plane_count = number(1, 3);
  for (int32_t& v : frame.visible) v = in.range(0, 3) ? 0 : number(-1, 70);
  frame.siting = number(0, 3);
  std::unique_ptr<uint8_t[]> memory[4];
  for (int i = 0; i < 4; ++i) {
    // `bytes` is what the caller vouches for: exactly as many exist.
    const auto bytes = static_cast<size_t>(in.range(0, kBuffer));
    memory[i] = exact(bytes);
    frame.planes[i].data = in.range(0, 31) ? memory[i].get() : nullptr;
    frame.planes[i].bytes = bytes;
    frame.planes[i].row_stride = wild ? in.take<int64_t>() : in.range(0, 3) ? 0 : in.range(-5, 300);
    frame.planes[i].pixel_stride = wild             ? in.take<int64_t>()
                                   : in.range(0, 3) ? 0
                                                    : in.range(-1, 70);
  }
  fv_roi roi{wild ? in.take<int32_t>() : in.range(1, 3), 0, {}};
  for (double& v : roi.v) v = wild ? in.take<double>() : in.range(-200, 200) / 2.0;
  for (int i = 0; i < 4; ++i) in.fill(memory[i].get(), static_cast<size_t>(frame.planes[i].bytes));
  const bool valid = !failed(fv_frame_check(&frame));
  auto out = exact(fv_image_plan_bytes(c.plan));
  // operator new aligns to 16, which is enough for the floats of a plan.
  const bool ran = !failed(fv_image_plan_run(c.plan, &frame, c.roi ? &roi : nullptr, out.get(),
                                             fv_image_plan_bytes(c.plan), nullptr, nullptr));
  expect(valid || !ran, "a frame that is not valid does not run");
  if (!c.picture) return 0;
  const fv_frame from = packed();
  const bool made =
      !failed(fv_image_plan_run_picture(c.plan, &from, nullptr, &frame, nullptr, nullptr));
  expect(valid || !made, "a frame that is not valid is not written");
  return 0;
}
