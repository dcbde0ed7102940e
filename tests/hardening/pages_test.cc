// Frames and tensors between pages that must not be touched: reading or writing one byte outside
// of what was described ends the process, in any build. Every format, tight and padded strides, a
// short last row, every orientation and every kind of plan.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "foveal/foveal.h"
#include "foveal/imgproc.h"
#include "hardening/programs.h"

using foveal::open_image;
using foveal::Status;

namespace {

size_t page() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// `bytes` that end at a forbidden page, or begin behind one.
class Guarded {
 public:
  Guarded(size_t bytes, bool at_end) : whole_((bytes + page() - 1) / page() * page() + 2 * page()) {
    base_ = static_cast<char*>(
        mmap(nullptr, whole_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (!CHECK(base_ != MAP_FAILED)) std::abort();
    mprotect(base_, page(), PROT_NONE);
    mprotect(base_ + whole_ - page(), page(), PROT_NONE);
    data_ = at_end ? base_ + whole_ - page() - bytes : base_ + page();
    for (size_t i = 0; i < bytes; ++i) data_[i] = static_cast<char>(i * 31 + 7);
  }
  ~Guarded() { munmap(base_, whole_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  uint8_t* data() const { return reinterpret_cast<uint8_t*>(data_); }

 private:
  size_t whole_;
  char* base_;
  char* data_;
};

struct Format {
  fv_pixel_format format;
  int planes;
  int pixel[3];          // bytes; of packed 4:2:2, of a pair
  int shift_x, shift_y;  // of all planes but the first
  bool pairs = false;
};
constexpr Format kFormats[] = {
    {FV_RGB, 1, {3}, 0, 0},        {FV_BGR, 1, {3}, 0, 0},        {FV_RGBA, 1, {4}, 0, 0},
    {FV_BGRA, 1, {4}, 0, 0},       {FV_GRAY, 1, {1}, 0, 0},       {FV_NV12, 2, {1, 2}, 1, 1},
    {FV_NV21, 2, {1, 2}, 1, 1},    {FV_I420, 3, {1, 1, 1}, 1, 1}, {FV_GRAY_ALPHA, 1, {2}, 0, 0},
    {FV_RGB16, 1, {6}, 0, 0},      {FV_BGR16, 1, {6}, 0, 0},      {FV_GRAY16, 1, {2}, 0, 0},
    {FV_RGBF32, 1, {12}, 0, 0},    {FV_BGRF32, 1, {12}, 0, 0},    {FV_GRAYF32, 1, {4}, 0, 0},
    {FV_YV12, 3, {1, 1, 1}, 1, 1}, {FV_NV16, 2, {1, 2}, 1, 0},    {FV_NV61, 2, {1, 2}, 1, 0},
    {FV_I422, 3, {1, 1, 1}, 1, 0}, {FV_I444, 3, {1, 1, 1}, 0, 0}, {FV_YUYV, 1, {4}, 0, 0, true},
    {FV_UYVY, 1, {4}, 0, 0, true}, {FV_P010, 2, {2, 4}, 1, 1},    {FV_I010, 3, {2, 2, 2}, 1, 1}};
constexpr std::string_view kSpecs[] = {
    R"({"size":[33,17]})",
    R"({"size":[97,61],"sample":{"k":"nearest"}})",
    R"({"size":[24,40],"fit":{"k":"letterbox"},"color":"BGR"})",
    R"({"size":[19,19],"fit":{"k":"cover"},"color":"GRAY"})",
    R"({"size":[21,23],"roi":"per_call","border":{"k":"constant","v":5}})",
    R"({"size":[21,23],"roi":"per_call"})",
    R"({"size":[9,7],"roi":"per_call","sample":{"k":"bilinear","antialias":true}})",
    R"({"size":[33,17],"yuv":{"chroma":"linear","siting":"left"}})",
    R"({"size":[33,17],"sample":{"k":"lanczos3","antialias":true},"profile":"pillow","intermediate":"u8"})",
    R"({"size":[9,150],"sample":{"k":"bilinear","antialias":true},"profile":"pillow","intermediate":"u8"})",
    R"({"size":[21,23],"sample":{"k":"area"},"roi":"per_call","profile":"pillow_12","intermediate":"u8"})",
    R"({"size":[97,61],"sample":{"k":"nearest"},"profile":"pillow","intermediate":"u8","color":"GRAY"})",
    R"({"size":[21,23],"roi":"per_call","yuv":{"chroma":"linear","siting":"top_left"}})",
    R"({"size":[21,23],"sample":{"k":"bilinear","antialias":true}})",
    R"({"size":[21,23],"profile":"torch","intermediate":"u8","sample":{"k":"bicubic","a":-0.75}})",
    R"({"size":[40,33],"roi":"per_call","sample":{"k":"lanczos3"},"border":{"k":"constant"}})",
};
constexpr int kSizes[][2] = {{1, 1}, {2, 3}, {33, 17}, {97, 61}, {64, 5}, {131, 2}};

int runs = 0;

// block: of channels, in place of the plain layout; 0: none.
fv_image_plan* plan_of(std::string_view text, fv_dtype type, int block = 0) {
  fv_image_spec* spec = nullptr;
  CHECK_OK(Status(fv_image_spec_from_json(text.data(), text.size(), &spec)));
  fv_tensor input = open_image(type);
  if (block) input.layout = {FV_LAYOUT_NCXHWX, block};
  fv_image_plan* plan = nullptr;
  CHECK_OK(Status(
      fv_image_plan_create(spec, &input, type == FV_UINT8 && !block ? FV_NHWC : FV_NCHW, &plan)));
  fv_image_spec_free(spec);
  return plan;
}

// A frame whose planes are guarded and not a byte too long.
struct Picture {
  fv_frame frame{};
  std::vector<std::unique_ptr<Guarded>> memory;

  Picture(const Format& f, int width, int height, int padding, bool at_end) {
    frame.abi = FV_ABI_INIT(fv_frame);
    frame.format = f.format;
    frame.width = width;
    frame.height = height;
    frame.matrix = FV_BT601;
    frame.range = FV_LIMITED;
    frame.plane_count = f.planes;
    const bool floats = f.format >= FV_RGBF32 && f.format <= FV_GRAYF32;
    const bool words = (f.format >= FV_RGB16 && f.format <= FV_GRAY16) || f.format >= FV_P010;
    const int unit = floats ? 4 : words ? 2 : 1;
    for (int i = 0; i < f.planes; ++i) {
      const int sx = f.pairs || i ? f.shift_x + f.pairs : 0, sy = i ? f.shift_y : 0;
      const int w = (width + sx) >> sx, h = (height + sy) >> sy;
      const int row = w * f.pixel[i] + padding * unit;
      const auto bytes =
          static_cast<size_t>(row * (h - 1) + w * f.pixel[i]);  // the last row is short
      memory.push_back(std::make_unique<Guarded>(bytes, at_end));
      frame.planes[i] = {memory.back()->data(), bytes, row, 0};
    }
  }
};

void run(const Format& f, int width, int height, int padding, bool at_end, std::string_view spec,
         fv_image_plan* plan) {
  Picture picture(f, width, height, padding, at_end);
  fv_frame& frame = picture.frame;
  const size_t out_bytes = fv_image_plan_bytes(plan);
  const Guarded out(out_bytes, at_end || out_bytes % 4 != 0);
  const fv_roi rois[] = {
      {FV_ROI_RECT, 0, {-3, -2, width + 4.0, height + 5.0}},
      {FV_ROI_RECT, 0, {0, 0, width * 1.0, height * 1.0}},
      {FV_ROI_ROTATED, 0, {width / 2.0, height / 2.0, 30, 20, 33}},
      {FV_ROI_QUAD, 0, {0, 0, width * 1.0, 1, width - 1.0, height * 1.0, -2, 9}}};
  const bool per_call = spec.find("per_call") != spec.npos;
  for (const int rotation : {0, 90, 180, 270})
    for (const int mirror : {0, 1}) {
      frame.rotation = rotation;
      frame.mirror = mirror;
      for (size_t r = 0; r < (per_call ? std::size(rois) : 1); ++r) {
        fv_status* s = fv_image_plan_run(plan, &frame, per_call ? &rois[r] : nullptr, out.data(),
                                         out_bytes, nullptr, nullptr);
        // A quad over a tiny picture may be none.
        if (per_call && s && fv_status_code(s) != FV_INTERNAL)
          fv_status_free(s);
        else
          CHECK_OK(Status(s));
        ++runs;
      }
    }
}

// Into YUV pictures, of which nothing but the planes may be written.
void run_pictures(int width, int height, int padding, bool at_end) {
  fv_image_plan* plan = plan_of(
      foveal::format(R"({"size":[%d,%d],"color":"YUV","yuv":{"to":"bt601-full"}})", width, height),
      FV_UINT8);
  if (!CHECK(plan != nullptr)) return;
  for (const Format& f : kFormats) {
    if (f.shift_x == 0 && f.planes != 3 && !f.pairs) continue;  // no YUV
    if (f.format >= FV_P010) continue;
    const Picture from(kFormats[0], width, height, padding, at_end);
    const Picture to(f, width, height, padding, at_end);
    CHECK_OK(
        Status(fv_image_plan_run_picture(plan, &from.frame, nullptr, &to.frame, nullptr, nullptr)));
    ++runs;
  }
  fv_image_plan_free(plan);
}

// Frames of the tensor's size, written in blocks of any number of channels: what NHWC holds.
void run_blocks(const Format& f, int width, int height, int block, bool at_end) {
  const std::string spec =
      foveal::format(R"({"size":[%d,%d],"fit":{"k":"stretch"}})", width, height);
  fv_image_plan* plain = plan_of(spec, FV_UINT8);
  fv_image_plan* plan = plan_of(spec, FV_UINT8, block);
  if (!CHECK(plain && plan)) return;
  Picture picture(f, width, height, 5, at_end);
  const Guarded want(fv_image_plan_bytes(plain), at_end), got(fv_image_plan_bytes(plan), at_end);
  for (const int rotation : {0, 90, 180, 270})
    for (const int mirror : {0, 1}) {
      picture.frame.rotation = rotation;
      picture.frame.mirror = mirror;
      CHECK_OK(Status(fv_image_plan_run(plain, &picture.frame, nullptr, want.data(),
                                        fv_image_plan_bytes(plain), nullptr, nullptr)));
      CHECK_OK(Status(fv_image_plan_run(plan, &picture.frame, nullptr, got.data(),
                                        fv_image_plan_bytes(plan), nullptr, nullptr)));
      bool same = true;
      for (int c = 0; c < 3; ++c)
        for (int i = 0; i < width * height; ++i)
          same = same && want.data()[i * 3 + c] ==
                             got.data()[(c / block * width * height + i) * block + c % block];
      CHECK(same);
      ++runs;
    }
  fv_image_plan_free(plan);
  fv_image_plan_free(plain);
}

}  // namespace

int main() {
  for (const Format& f : kFormats)
    for (const auto& size : kSizes)
      for (const int block : {1, 2, 3, 4, 5, 8, 16})
        for (const bool at_end : {true, false}) run_blocks(f, size[0], size[1], block, at_end);

  for (const auto& size : kSizes)
    for (const int padding : {0, 5})
      for (const bool at_end : {true, false}) run_pictures(size[0], size[1], padding, at_end);

  for (const std::string_view spec : kSpecs)
    for (const fv_dtype type : {FV_FLOAT32, FV_UINT8}) {
      fv_image_plan* plan = plan_of(spec, type);
      if (!CHECK(plan != nullptr)) continue;
      for (const Format& f : kFormats)
        for (const auto& size : kSizes)
          for (const int padding : {0, 5})
            for (const bool at_end : {true, false})
              run(f, size[0], size[1], padding, at_end, spec, plan);
      fv_image_plan_free(plan);
    }
  std::printf("%d runs\n", runs);
  return CHECK_RESULT();
}
