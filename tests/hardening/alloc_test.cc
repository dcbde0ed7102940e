// Memory runs out at every allocation in turn: each call answers with an error and succeeds when
// asked again, with the same objects, and nothing is lost. Runs after the first allocate nothing.
//
//   alloc_test FOLDER_OF_MODELS
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "base/dlpack.h"
#include "core/check.h"
#include "foveal/foveal.h"
#include "foveal/imgproc.h"
#include "hardening/allocations.h"
#include "hardening/programs.h"

using foveal::open_image;
using foveal::picture;
using foveal::Status;
using foveal::tensor;
using foveal::test::seen;
using foveal::test::Watch;
namespace fs = std::filesystem;

namespace {

long errors = 0, denied = 0;

// Calls until it gets all the memory it asks for, failing one allocation further each time.
// `stride` above 1 leaves some out, more and more of them.
void insist(const char* what, const std::function<fv_status*()>& call, double growth = 1.0) {
  for (long k = 1;; k = std::max(k + 1, static_cast<long>(static_cast<double>(k) * growth))) {
    fv_status* status;
    long count;
    {
      Watch watch(k);
      status = call();
      count = seen;
    }
    if (count < k) {  // it had all it wanted
      foveal::test::report(
          status == nullptr, __FILE__, __LINE__,
          std::string(what) + " failed with all memory: " + (status ? fv_status_text(status) : ""));
      fv_status_free(status);
      return;
    }
    ++denied;
    if (!status) return;  // it did without: a cache, a name in a log
    ++errors;
    const fv_code code = fv_status_code(status);
    foveal::test::report(
        code == FV_OUT_OF_MEMORY, __FILE__, __LINE__,
        std::string(what) + foveal::format(": allocation %ld of it fails with code %d: ", k, code) +
            fv_status_text(status));
    fv_status_free(status);
  }
}

// `what` is true although allocation k fails.
bool without(long k, const std::function<bool()>& what) {
  Watch watch(k);
  return what();
}

// The error expected, or the want of memory for it; with a text.
bool is_error(fv_status* status, fv_code code) {
  const fv_code got = fv_status_code(status);
  const bool good = (got == code || got == FV_OUT_OF_MEMORY) && *fv_status_text(status) != 0;
  fv_status_free(status);
  return good;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> run_once(fv_session* session, fv_model* model) {
  for (size_t i = 0; i < fv_model_inputs(model); ++i) {
    fv_tensor t = tensor();
    CHECK_OK(Status(fv_session_input(session, i, &t)));
    if (t.dtype == FV_FLOAT32)
      for (uint64_t k = 0; k < t.bytes / 4; ++k)
        static_cast<float*>(t.data)[k] = static_cast<float>(k % 7) - 3.f;
    else
      std::memset(t.data, 1, t.bytes);
  }
  CHECK_OK(Status(fv_session_run(session)));
  std::vector<std::string> results;
  for (size_t i = 0; i < fv_model_outputs(model); ++i) {
    fv_tensor t = tensor();
    CHECK_OK(Status(fv_session_output(session, i, &t)));
    results.emplace_back(static_cast<const char*>(t.data), t.bytes);
  }
  return results;
}

void models(const fs::path& path, double growth) {
  const std::string bytes = read(path), name = path.filename();
  fv_model* model = nullptr;
  insist("fv_model_open", [&] { return fv_model_open(path.c_str(), &model); }, growth);
  fv_model_release(model);
  model = nullptr;
  insist(
      "fv_model_open_memory",
      [&] { return fv_model_open_memory(bytes.data(), bytes.size(), &model); }, growth);
  if (!CHECK(model != nullptr)) return;
  fv_session_options options{};
  options.abi = FV_ABI_INIT(fv_session_options);
  options.devices = "cpu";
  options.threads = 1;
  fv_session* calm = nullptr;
  CHECK_OK(Status(fv_session_new(model, &options, &calm)));
  const auto expected = run_once(calm, model);
  fv_status* status;
  long count;
  {
    Watch watch;
    status = fv_session_run(calm);
    count = seen;
  }
  CHECK_OK(Status(status));
  foveal::test::report(count == 0, __FILE__, __LINE__, name + ": a run allocates");
  fv_session_free(calm);
  for (const int32_t flags : {0, int32_t{FV_SESSION_NO_FUSION}, int32_t{FV_SESSION_PROFILE}}) {
    options.flags = flags;
    fv_session* session = nullptr;
    insist("fv_session_new", [&] { return fv_session_new(model, &options, &session); }, growth);
    if (!CHECK(session != nullptr)) break;
    insist("fv_session_run", [&] { return fv_session_run(session); }, growth);
    CHECK(flags == FV_SESSION_NO_FUSION || run_once(session, model) == expected);
    char* text = nullptr;
    insist("fv_session_explain", [&] { return fv_session_explain(session, &text); }, growth);
    fv_string_free(text);
    if (flags == FV_SESSION_PROFILE) {
      const std::string trace = fs::temp_directory_path() / "foveal_alloc_test.json";
      insist("fv_session_profile", [&] { return fv_session_profile(session, trace.c_str()); });
      fs::remove(trace);
    }
    fv_session_free(session);
  }
  fv_model_release(model);
}

// conv2d and relu over [1, 3, ?, ?], as an importer makes it, then a session that changes its
// shape.
void graph() {
  fv_graph* g = nullptr;
  insist("fv_graph_new", [&] { return fv_graph_new(&g); });
  int32_t x = -1, c = -1, y = -1, w = -1;
  const auto value = [&](const char* name, int64_t channels, int32_t* out) {
    const int64_t dims[] = {1, channels, -1, -1};
    const char* names[] = {nullptr, nullptr, "a dimension with a long name", "width"};
    insist("fv_graph_add_value",
           [&] { return fv_graph_add_value(g, name, FV_FLOAT32, 4, dims, names, out); });
  };
  value("the input, whose name is long", 3, &x);
  value("c", 5, &c);
  value("y", 5, &y);
  const std::vector<float> weight(5 * 3 * 3 * 3, 0.5f);
  const int64_t dims[] = {5, 3, 3, 3};
  insist("fv_graph_add_constant",
         [&] { return fv_graph_add_constant(g, "w", FV_FLOAT32, 4, dims, weight.data(), &w); });
  const int64_t pad[] = {1, 1, 1, 1};
  const fv_named_attr attr{"pad",
                           {FV_ABI_INIT(fv_attr), FV_ATTR_INTS, 0, 4, pad, nullptr, nullptr}};
  const int32_t inputs[] = {x, w};
  insist("fv_graph_add_node", [&] {
    return fv_graph_add_node(g, "conv2d", "a convolution", inputs, 2, &c, 1, &attr, 1);
  });
  insist("fv_graph_add_node",
         [&] { return fv_graph_add_node(g, "relu", "act", &c, 1, &y, 1, nullptr, 0); });
  insist("fv_graph_set_io", [&] { return fv_graph_set_io(g, &x, 1, &y, 1); });
  insist("fv_graph_set_meta",
         [&] { return fv_graph_set_meta(g, "a key that is long enough", "a long enough value"); });
  insist("fv_graph_verify", [&] { return fv_graph_verify(g); });
  const std::string path = fs::temp_directory_path() / "foveal_alloc_test.fvm";
  insist("fv_graph_save", [&] { return fv_graph_save(g, path.c_str()); });
  fv_model* model = nullptr;
  insist("fv_graph_to_model", [&] { return fv_graph_to_model(g, &model); });
  fv_graph* copy = nullptr;
  insist("fv_graph_from_model", [&] { return fv_graph_from_model(model, &copy); });
  CHECK(without(1, [&] { return fv_graph_node_macs(copy, 0) == -1; }));
  fv_graph_free(copy);
  fv_graph_free(g);
  fs::remove(path);

  fv_session_options options{};
  options.abi = FV_ABI_INIT(fv_session_options);
  options.threads = 2;
  fv_session* session = nullptr;
  insist("fv_session_new", [&] { return fv_session_new(model, &options, &session); });
  for (const int64_t size : {8, 16, 8, 24, 32, 40}) {
    const int64_t shape[] = {1, 3, size, size};
    insist("fv_session_resize", [&] { return fv_session_resize(session, 0, 4, shape); });
    insist("fv_session_run", [&] { return fv_session_run(session); });
    for (const auto& result : run_once(session, model))
      CHECK_EQ(result.size(), static_cast<size_t>(5 * size * size * 4));
    fv_tensor t = tensor();
    insist("fv_session_output", [&] { return fv_session_output(session, 0, &t); });
    void* managed = nullptr;
    insist("fv_session_output_dlpack",
           [&] { return fv_session_output_dlpack(session, 0, &managed); });
    auto* held = static_cast<DLManagedTensor*>(managed);
    held->deleter(held);
  }
  // Errors are made of memory too.
  const int64_t wrong[] = {1, 4, 8, 8};
  for (long k = 1; k < 20; ++k)
    CHECK(without(
        k, [&] { return is_error(fv_session_resize(session, 0, 4, wrong), FV_SHAPE_ERROR); }));
  fv_session_free(session);
  fv_model_release(model);
}

void plugins(const std::string& plugin) {
  char* text = nullptr;
  insist("fv_plugins_json", [&] { return fv_plugins_json(&text); });
  fv_string_free(text);
  insist("fv_plugin_remove", [&] { return fv_plugin_remove("cpu"); });
  // Found, refused and opened again, whatever was missing before.
  insist("fv_plugin_add", [&] { return fv_plugin_add(plugin.c_str()); });
  text = nullptr;
  insist("fv_plugins_json", [&] { return fv_plugins_json(&text); });
  CHECK(text && std::strstr(text, "\"state\":\"ready\"") != nullptr);
  fv_string_free(text);
  fv_pool* pool = nullptr;
  insist("fv_pool_new", [&] { return fv_pool_new(2, &pool); });
  fv_pool_free(pool);
}

void pictures() {
  constexpr std::string_view kSpec =
      R"({"size":[32,32],"fit":{"k":"letterbox"},"norm":{"scale":0.01}})";
  fv_image_spec* spec = nullptr;
  insist("fv_image_spec_from_json",
         [&] { return fv_image_spec_from_json(kSpec.data(), kSpec.size(), &spec); });
  const fv_tensor input = open_image();
  fv_image_plan* plan = nullptr;
  insist("fv_image_plan_create",
         [&] { return fv_image_plan_create(spec, &input, FV_NHWC, &plan); });
  const std::vector<uint8_t> pixels(41 * 23 * 3, 100);
  fv_frame frame = picture(FV_RGB, 41, 23, pixels);
  std::vector<float> out(fv_image_plan_bytes(plan) / 4);
  fv_transform transform{};
  transform.abi = FV_ABI_INIT(fv_transform);
  for (const int32_t rotation : {0, 90}) {
    frame.rotation = rotation;
    fv_status* status;
    long count;
    {
      Watch watch;
      status =
          fv_image_plan_run(plan, &frame, nullptr, out.data(), out.size() * 4, nullptr, &transform);
      count = seen;
    }
    CHECK_OK(Status(status));
    CHECK_EQ(count, 0l);
  }
  for (long k = 1; k < 40; ++k)
    CHECK(without(k, [&] { return fv_image_plan_explain(plan) != nullptr; }));
  constexpr std::string_view kDecoder =
      R"({"decoder":1,"kind":"ssd","boxes":"b","scores":"s","points":2,"min_score":0,)"
      R"("anchors":{"size":[32,32],"strides":[8,16],"fixed_anchor_size":true},)"
      R"("coding":"mediapipe","nms":{"k":"weighted"}})";
  fv_decoder* decoder = nullptr;
  insist("fv_decoder_from_json",
         [&] { return fv_decoder_from_json(kDecoder.data(), kDecoder.size(), &decoder); });
  std::vector<float> boxes(40 * 8, 0.5f), scores(40, 0.9f), points(100 * 2 * 2);
  fv_tensor tensors[] = {tensor(), tensor()};
  for (int i = 0; i < 2; ++i) {
    std::vector<float>& data = i ? scores : boxes;
    tensors[i].name = i ? "s" : "b";
    tensors[i].data = data.data();
    tensors[i].bytes = data.size() * 4;
    tensors[i].dtype = FV_FLOAT32;
    tensors[i].rank = 2;
    tensors[i].dims[0] = 40;
    tensors[i].dims[1] = i ? 1 : 8;
    tensors[i].layout = {FV_LAYOUT_PLAIN, 0};
  }
  fv_detection found[100];
  int32_t count = 0;
  insist("fv_decoder_run", [&] {
    return fv_decoder_run(decoder, tensors, 2, &transform, found, points.data(), 100, &count);
  });
  CHECK(count > 0);
  frame.width = -1;
  for (long k = 1; k < 10; ++k)
    CHECK(without(k, [&] { return is_error(fv_frame_check(&frame), FV_FRAME_ERROR); }));
  fv_decoder_free(decoder);
  fv_image_plan_free(plan);
  fv_image_spec_free(spec);
}

// What the first run makes is kept: a picture between frame and tensor, tables of filters.
void kept_pictures(std::string_view text, const fv_roi (&rois)[2]) {
  fv_image_spec* spec = nullptr;
  CHECK_OK(Status(fv_image_spec_from_json(text.data(), text.size(), &spec)));
  const fv_tensor input = open_image();
  fv_image_plan* plan = nullptr;
  CHECK_OK(Status(fv_image_plan_create(spec, &input, FV_NHWC, &plan)));
  const std::vector<uint8_t> pixels(41 * 23, 100);
  fv_frame frame = picture(FV_GRAY, 41, 23, pixels);
  std::vector<float> out(2 * fv_image_plan_bytes(plan) / 4);
  const auto run = [&] {
    return fv_image_plan_run_batch(plan, &frame, rois, 2, out.data(), out.size() * 4, nullptr,
                                   nullptr);
  };
  insist("fv_image_plan_run_batch", run);
  for (const float v : out) CHECK(v > 99.999f && v < 100.001f);
  fv_status* status;
  long count;
  {
    Watch watch;
    status = run();
    count = seen;
  }
  CHECK_OK(Status(status));
  CHECK_EQ(count, 0l);
  fv_image_plan_free(plan);
  fv_image_spec_free(spec);
}

void everything(const std::vector<fs::path>& files) {
  graph();
  pictures();
  kept_pictures(
      R"({"size":[9,7],"roi":"per_call","sample":{"k":"bilinear","antialias":true}})",
      {{FV_ROI_ROTATED, 0, {20, 11, 30, 15, 20}}, {FV_ROI_ROTATED, 0, {20, 11, 30, 18, 70}}});
  kept_pictures(R"({"size":[9,7],"roi":"per_call","sample":{"k":"bicubic","antialias":true},)"
                R"("profile":"pillow","intermediate":"u8"})",
                {{FV_ROI_RECT, 0, {0, 0, 41, 23}}, {FV_ROI_RECT, 0, {3.5, 2, 30, 20.25}}});
  plugins(FOVEAL_CPU_PLUGIN);
  // All of the first, which are small; a sample of the others.
  for (size_t i = 0; i < files.size(); ++i) models(files[i], i < 2 ? 1.0 : 1.2);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<fs::path> files = foveal::begin_program(argc, argv);
  CHECK(!files.empty());
#if !defined(FV_COUNTS_NOTHING)
  everything(files);
#if defined(FV_COUNTS_BLOCKS)
  // What stays from the first time (tables, workers, the C library's own) is there now.
  const long before = foveal::test::allocated - foveal::test::freed;
  everything(files);
  CHECK_EQ(foveal::test::allocated - foveal::test::freed, before);
#endif
#endif
  std::printf("%ld allocations denied, %ld errors\n", denied, errors);
  return CHECK_RESULT();
}
