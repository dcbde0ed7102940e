// How long a model takes on one thread of this machine, and its pipeline for a frame.
//
//     speed MODEL.fvm [SECONDS]      milliseconds: median of the runs in SECONDS (5)
//
// Inputs are noise. With a pipeline: an NV12 frame of 1280 x 720 besides.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "foveal/foveal.hpp"
#include "foveal/imgproc.h"

namespace {

uint32_t state = 1;
uint8_t noise() { return static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 24); }

double now_ms() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count();
}

template <class F>
void time(const char* what, double seconds, F run) {
  run();  // the first one touches memory that is not there yet
  std::vector<double> took;
  for (const double end = now_ms() + seconds * 1000; now_ms() < end || took.size() < 3;) {
    const double begin = now_ms();
    run();
    took.push_back(now_ms() - begin);
  }
  std::nth_element(took.begin(), took.begin() + took.size() / 2, took.end());
  std::printf("%s %.3f\n", what, took[took.size() / 2]);
}

void time_pipeline(const char* pipeline, fv::Session& session, double seconds, fv::Error& e) {
  constexpr int kWidth = 1280, kHeight = 720;
  std::vector<uint8_t> y(kWidth * kHeight), uv(y.size() / 2);
  std::generate(y.begin(), y.end(), noise);
  std::generate(uv.begin(), uv.end(), noise);
  fv_frame frame = {};
  frame.abi.struct_size = sizeof(frame);
  frame.format = FV_NV12;
  frame.width = kWidth;
  frame.height = kHeight;
  frame.matrix = FV_BT601;
  frame.range = FV_LIMITED;
  frame.plane_count = 2;
  frame.planes[0].data = y.data();
  frame.planes[0].bytes = y.size();
  frame.planes[1].data = uv.data();
  frame.planes[1].bytes = uv.size();

  fv_tensor input = {FV_ABI_INIT(fv_tensor), nullptr, nullptr, 0, 0, 0, {0}, {0, 0}};
  fv_image_spec* spec = nullptr;
  fv_image_plan* plan = nullptr;
  if (e.check(fv_session_input(session.get(), 0, &input)) &&
      e.check(fv_image_spec_from_json(pipeline, std::strlen(pipeline), &spec)) &&
      e.check(fv_image_plan_create(spec, &input, input.dims[3] == 3 ? FV_NHWC : FV_NCHW, &plan)))
    time("pipeline", seconds, [&] {
      e.check(fv_image_plan_run(plan, &frame, nullptr, input.data, input.bytes, nullptr, nullptr));
    });
  fv_image_plan_free(plan);
  fv_image_spec_free(spec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: speed MODEL.fvm [SECONDS]\n");
    return 2;
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  fv::Error e;
  const fv::Model model = fv::Model::open(argv[1], e);
  fv::Session session = fv::Session::create(model, {.devices = "cpu", .threads = 1}, e);
  for (size_t i = 0; !e && i < model.inputs(); ++i)
    for (float& value : session.input<float>(i, e)) value = static_cast<float>(noise()) / 255;
  if (!e) time("run", seconds, [&] { session.run(e); });
  const char* pipeline = e ? nullptr : model.meta("pipeline");
  if (pipeline) time_pipeline(pipeline, session, seconds, e);
  if (e) std::fprintf(stderr, "speed: %s\n", e.text());
  return e ? 1 : 0;
}
