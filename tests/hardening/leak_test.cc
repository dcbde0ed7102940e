// Doing the same thing again and again takes no more memory than doing it once: runs, sessions,
// models, plans, decoders. Counts blocks and looks at the resident size.
//
//   leak_test FOLDER_OF_MODELS
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/check.h"
#include "foveal/foveal.h"
#include "foveal/imgproc.h"
#include "hardening/allocations.h"
#include "hardening/programs.h"

using foveal::open_image;
using foveal::picture;
using foveal::Status;
namespace fs = std::filesystem;

namespace {

constexpr long kGrowth = 1 << 20;  // of the resident size, bytes: pages that the heap keeps

long blocks() { return foveal::test::allocated - foveal::test::freed; }

long resident() {
  long total = 0, pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return pages * 4096;
}

void flat(const char* what, int times, const std::function<void()>& step) {
  for (int i = 0; i < times / 10 + 2; ++i) step();
  const long pages = resident(), before = blocks();
  for (int i = 0; i < times; ++i) step();
  [[maybe_unused]] const long after = blocks(), grown = resident() - pages;
#if defined(FV_COUNTS_BLOCKS)  // sanitizers keep freed blocks for a while
  foveal::test::report(after == before, __FILE__, __LINE__,
                       foveal::format("%s: %ld blocks more", what, after - before));
  foveal::test::report(grown < kGrowth, __FILE__, __LINE__,
                       foveal::format("%s: grew by %ld bytes", what, grown));
#endif
  std::printf("%s: %d times, %ld blocks, %ld KB more\n", what, times, after - before, grown / 1024);
}

void models(const fs::path& path) {
  fv_model* model = nullptr;
  if (!CHECK_OK(Status(fv_model_open(path.c_str(), &model)))) return;
  fv_session_options options{};
  options.abi = FV_ABI_INIT(fv_session_options);
  options.threads = 2;
  fv_session* session = nullptr;
  CHECK_OK(Status(fv_session_new(model, &options, &session)));
  flat("runs of one session", 10000, [&] { CHECK_OK(Status(fv_session_run(session))); });
  flat("explanations", 100, [&] {
    char* text = nullptr;
    CHECK_OK(Status(fv_session_explain(session, &text)));
    fv_string_free(text);
  });
  fv_session_free(session);
  flat("sessions of one model", 100, [&] {
    fv_session* s = nullptr;
    CHECK_OK(Status(fv_session_new(model, &options, &s)));
    CHECK_OK(Status(fv_session_run(s)));
    fv_session_free(s);
  });
  fv_model_release(model);
  flat("models", 100, [&] {
    fv_model* m = nullptr;
    CHECK_OK(Status(fv_model_open(path.c_str(), &m)));
    fv_session* s = nullptr;
    CHECK_OK(Status(fv_session_new(m, &options, &s)));
    fv_model_release(m);
    fv_session_free(s);
  });
  flat("models that are none", 1000, [&] {
    fv_model* m = nullptr;
    CHECK_ERROR(Status(fv_model_open_memory("FOVEALM1 and no more", 20, &m)), FV_MODEL_ERROR,
                "truncated");
  });
  flat("plugins", 50, [&] {
    CHECK_OK(Status(fv_plugin_remove("cpu")));
    CHECK_OK(Status(fv_plugin_add(FOVEAL_CPU_PLUGIN)));
    char* text = nullptr;
    CHECK_OK(Status(fv_plugins_json(&text)));
    fv_string_free(text);
  });
}

void pictures() {
  constexpr std::string_view kSpec = R"({"size":[96,96],"fit":{"k":"letterbox"}})";
  const std::vector<uint8_t> pixels(41 * 23 * 3, 100);
  std::vector<float> out(96 * 96 * 3);
  flat("pipelines", 1000, [&] {
    fv_image_spec* spec = nullptr;
    CHECK_OK(Status(fv_image_spec_from_json(kSpec.data(), kSpec.size(), &spec)));
    const fv_tensor input = open_image();
    fv_image_plan* plan = nullptr;
    CHECK_OK(Status(fv_image_plan_create(spec, &input, FV_NHWC, &plan)));
    fv_frame frame = picture(FV_RGB, 41, 23, pixels);
    CHECK_OK(Status(
        fv_image_plan_run(plan, &frame, nullptr, out.data(), out.size() * 4, nullptr, nullptr)));
    CHECK(*fv_image_plan_explain(plan) != 0);
    frame.height = 0;
    CHECK_ERROR(Status(fv_frame_check(&frame)), FV_FRAME_ERROR, "height");
    fv_image_plan_free(plan);
    fv_image_spec_free(spec);
  });
  constexpr std::string_view kDecoder =
      R"({"decoder":1,"kind":"ssd","boxes":"b","scores":"s",)"
      R"("anchors":{"size":[32,32],"strides":[8]},"coding":"tf","background":0})";
  flat("decoders", 1000, [&] {
    fv_decoder* decoder = nullptr;
    CHECK_OK(Status(fv_decoder_from_json(kDecoder.data(), kDecoder.size(), &decoder)));
    fv_decoder_free(decoder);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<fs::path> files = foveal::begin_program(argc, argv);
  if (!CHECK(!files.empty())) return CHECK_RESULT();
  models(files.front());
  pictures();
  return CHECK_RESULT();
}
