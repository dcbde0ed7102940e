// Threads over everything that may be shared: sessions of one model, one pool, plugins coming and
// going, specs and decoders. Results are compared with those of one thread; built with
// FOVEAL_SANITIZE=thread (`make tsan`) it finds races.
//
//   threads_test FOLDER_OF_MODELS [ROUNDS]
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/check.h"
#include "foveal/foveal.h"
#include "foveal/imgproc.h"
#include "hardening/programs.h"

using foveal::open_image;
using foveal::picture;
using foveal::Status;
using foveal::tensor;
namespace fs = std::filesystem;

namespace {

int rounds = 10;
std::mutex failing;

// CHECK counts without a lock.
void expect(bool good, const char* what, int line) {
  if (good) return;
  std::lock_guard lock(failing);
  foveal::test::report(false, __FILE__, line, what);
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

bool good(fv_status* status) {
  const Status s(status);
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.message().c_str());
  return s.ok();
}

void together(const std::vector<std::function<void()>>& work) {
  std::vector<std::thread> threads;
  for (const auto& f : work) threads.emplace_back(f);
  for (std::thread& t : threads) t.join();
}

fv_session* session_of(fv_model* model, int threads) {
  fv_session_options options{};
  options.abi = FV_ABI_INIT(fv_session_options);
  options.devices = "cpu";
  options.threads = threads;
  fv_session* session = nullptr;
  return good(fv_session_new(model, &options, &session)) ? session : nullptr;
}

std::string result(fv_session* session, fv_model* model, int value) {
  for (size_t i = 0; i < fv_model_inputs(model); ++i) {
    fv_tensor t = tensor();
    EXPECT(good(fv_session_input(session, i, &t)));
    if (t.dtype == FV_FLOAT32)
      std::fill_n(static_cast<float*>(t.data), t.bytes / 4, static_cast<float>(value));
    else
      std::memset(t.data, 1, t.bytes);
  }
  EXPECT(good(fv_session_run(session)));
  std::string all;
  for (size_t i = 0; i < fv_model_outputs(model); ++i) {
    fv_tensor t = tensor();
    EXPECT(good(fv_session_output(session, i, &t)));
    all.append(static_cast<const char*>(t.data), t.bytes);
  }
  return all;
}

// Sessions made, run and freed in every thread, all over one model; the caller's reference goes
// before they do.
void sessions_of_one_model(const fs::path& path) {
  fv_model* model = nullptr;
  if (!CHECK_OK(Status(fv_model_open(path.c_str(), &model)))) return;
  std::string expected[3];
  fv_session* calm = session_of(model, 1);
  for (int v = 0; v < 3; ++v) expected[v] = result(calm, model, v);
  fv_session_free(calm);
  std::vector<std::function<void()>> work;
  for (int t = 0; t < 6; ++t) {
    fv_model* own = fv_model_retain(model);
    work.push_back([=, &expected] {
      for (int round = 0; round < rounds; ++round) {
        fv_session* session = session_of(own, 1 + (t + round) % 3);
        for (int v = 0; v < 3; ++v) EXPECT(result(session, own, v) == expected[v]);
        char* text = nullptr;
        if (round == 0 && good(fv_session_explain(session, &text))) fv_string_free(text);
        fv_session_free(session);
      }
      fv_model_release(own);
    });
  }
  fv_model_release(model);
  together(work);
}

// One pool, many callers; nested calls as well.
void one_pool() {
  fv_pool* pool = nullptr;
  if (!CHECK_OK(Status(fv_pool_new(3, &pool)))) return;
  struct Sum {
    const fv_pool* pool;
    std::atomic<int64_t> total{0};
  };
  const auto add = [](void* ctx, int64_t i, int32_t) { static_cast<Sum*>(ctx)->total += i; };
  const auto nest = [](void* ctx, int64_t, int32_t) {
    auto* outer = static_cast<Sum*>(ctx);
    Sum inner{outer->pool};
    fv_parallel_for(
        outer->pool, 10, [](void* c, int64_t i, int32_t) { static_cast<Sum*>(c)->total += i; },
        &inner);
    outer->total += inner.total;
  };
  std::vector<std::function<void()>> work(5, [=] {
    for (int i = 0; i < 20 * rounds; ++i) {
      Sum plain{pool}, nested{pool};
      fv_parallel_for(pool, 33, add, &plain);
      fv_parallel_for(pool, 7, nest, &nested);
      EXPECT(plain.total == 33 * 32 / 2);
      EXPECT(nested.total == 7 * 45);
    }
  });
  together(work);
  fv_pool_free(pool);
}

// Plugins are forgotten and found again while sessions run on them: those stay valid, and a new
// one gets the device or an error that says that there is none.
void plugins_come_and_go(const fs::path& path) {
  fv_model* model = nullptr;
  if (!CHECK_OK(Status(fv_model_open(path.c_str(), &model)))) return;
  fv_session* kept = session_of(model, 2);
  const std::string expected = result(kept, model, 1);
  std::atomic<bool> done{false};
  std::atomic<int> made{0};
  std::vector<std::function<void()>> work;
  for (int t = 0; t < 3; ++t)
    work.push_back([&] {
      while (!done) {
        fv_session_options options{};
        options.abi = FV_ABI_INIT(fv_session_options);
        options.devices = "cpu";
        fv_session* session = nullptr;
        const Status s(fv_session_new(model, &options, &session));
        EXPECT(s.ok() || s.code() == FV_NOT_FOUND);
        if (!s.ok()) continue;
        EXPECT(result(session, model, 1) == expected);
        fv_session_free(session);
        ++made;
      }
    });
  work.push_back([&] {
    while (!done) EXPECT(result(kept, model, 1) == expected);
  });
  work.push_back([&] {
    while (!done) {
      char* text = nullptr;
      if (good(fv_plugins_json(&text))) fv_string_free(text);
    }
  });
  work.push_back([&] {
    for (int i = 0; i < 4 * rounds || (made < 3 && i < 4000); ++i) {
      (void)Status(fv_plugin_remove("cpu")).ok();
      EXPECT(good(fv_plugin_add(FOVEAL_CPU_PLUGIN)));
      std::this_thread::yield();
    }
    done = true;
  });
  together(work);
  EXPECT(made > 0);
  fv_session_free(kept);
  fv_model_release(model);
}

// A spec and a decoder shared, a plan per thread, all spreading their rows over one pool.
void pictures() {
  constexpr std::string_view kSpec = R"({"size":[64,64],"fit":{"k":"letterbox"}})";
  fv_image_spec* spec = nullptr;
  CHECK_OK(Status(fv_image_spec_from_json(kSpec.data(), kSpec.size(), &spec)));
  fv_pool* pool = nullptr;
  CHECK_OK(Status(fv_pool_new(3, &pool)));
  const fv_workers workers{pool, fv_parallel_for};
  std::vector<uint8_t> pixels(101 * 67 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 7);
  const auto run = [&](int rotation, const fv_workers* w) {
    const fv_tensor input = open_image();
    fv_image_plan* plan = nullptr;
    EXPECT(good(fv_image_plan_create(spec, &input, FV_NHWC, &plan)));
    fv_frame frame = picture(FV_RGB, 101, 67, pixels);
    frame.rotation = rotation;
    std::vector<float> out(fv_image_plan_bytes(plan) / 4);
    EXPECT(good(fv_image_plan_run(plan, &frame, nullptr, out.data(), out.size() * 4, w, nullptr)));
    fv_image_plan_free(plan);
    return out;
  };
  std::vector<std::vector<float>> expected;
  for (int r = 0; r < 4; ++r) expected.push_back(run(90 * r, nullptr));
  std::vector<std::function<void()>> work;
  for (int t = 0; t < 4; ++t)
    work.push_back([&, t] {
      for (int i = 0; i < 2 * rounds; ++i)
        EXPECT(run(90 * ((t + i) % 4), &workers) == expected[static_cast<size_t>((t + i) % 4)]);
    });
  together(work);
  fv_pool_free(pool);
  fv_image_spec_free(spec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) rounds = std::max(1, std::atoi(argv[2]));
  const std::vector<fs::path> files = foveal::begin_program(argc, argv);
  if (!CHECK(!files.empty())) return CHECK_RESULT();
  for (const fs::path& path : files) sessions_of_one_model(path);
  one_pool();
  plugins_come_and_go(files.front());
  pictures();
  return CHECK_RESULT();
}
