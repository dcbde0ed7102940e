// Model files: open, plan on the CPU plugin, run once, explain, save again.
//
// Checksums would stop nearly every mutation, so the mutator makes them fit, as somebody with bad
// intentions would. Offsets in the header stay right when the size of the file does: mostly, whole
// words are replaced by numbers that mean something as a dimension, an index or a length.
#include <algorithm>
#include <random>
#include <vector>

#include "fuzz.h"
#include "graph/checksum.h"

using namespace foveal::fuzz;
using foveal::Checksum;

namespace {

constexpr size_t kPrelude = 64, kHeaderBytes = 16, kWeights = 24, kFileBytes = 32, kSums = 40;
constexpr double kMaxMacs = 2e6;         // of one run
constexpr int64_t kMaxValues = 1 << 20;  // elements of one tensor of a run

uint64_t word(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
void set_word(uint8_t* p, uint64_t v) { std::memcpy(p, &v, 8); }

// Prelude and sums that fit what follows them.
void forge(uint8_t* data, size_t size) {
  if (size < kPrelude) return;
  const uint32_t fixed[] = {kPrelude, 0};
  std::memcpy(data, "FOVEALM1", 8);
  std::memcpy(data + 8, fixed, sizeof(fixed));
  const uint64_t room = size - kPrelude;
  uint64_t header = std::min<uint64_t>(word(data + kHeaderBytes), room);
  uint64_t weights = (kPrelude + header + 63) / 64 * 64;
  if (weights > size) {
    weights = size / 64 * 64;
    header = std::min<uint64_t>(header, weights - kPrelude);
    weights = (kPrelude + header + 63) / 64 * 64;
  }
  set_word(data + kHeaderBytes, header);
  set_word(data + kWeights, weights);
  set_word(data + kFileBytes, size);
  set_word(data + kSums, Checksum::of(data + kPrelude, weights - kPrelude));
  set_word(data + kSums + 8, Checksum::of(data + weights, size - weights));
  set_word(data + kSums + 16, Checksum::of(data, kSums + 16));
}

// Dimensions that the model leaves open become small.
bool resize(fv_session* session, const fv_model* model) {
  for (size_t i = 0; i < fv_model_inputs(model); ++i) {
    fv_tensor t{};
    t.abi = FV_ABI_INIT(fv_tensor);
    if (failed(fv_model_input(model, i, &t))) return false;
    for (int d = 0; d < t.rank; ++d)
      if (t.dims[d] < 0) t.dims[d] = 1 + d * 3;
    if (failed(fv_session_resize(session, i, t.rank, t.dims))) return false;
  }
  return true;
}

// Small enough to run thousands of times. Looks at declared shapes: a lie is found by planning.
bool is_small(const fv_model* model) {
  fv_graph* graph = nullptr;
  if (failed(fv_graph_from_model(model, &graph))) return false;
  double macs = 0;
  int64_t most = 0;
  for (int32_t i = 0; i < fv_graph_nodes(graph); ++i)
    macs += std::max(0.0, fv_graph_node_macs(graph, i));
  for (int32_t v = 0; v < fv_graph_values(graph); ++v) {
    fv_tensor t{};
    t.abi = FV_ABI_INIT(fv_tensor);
    if (failed(fv_graph_value(graph, v, &t))) continue;
    int64_t count = 1;
    for (int d = 0; d < t.rank; ++d)
      if (__builtin_mul_overflow(count, std::max<int64_t>(1, t.dims[d]), &count))
        count = kMaxValues * 2;
    most = std::max(most, count);
  }
  const bool small = macs <= kMaxMacs && most <= kMaxValues && fv_graph_nodes(graph) <= 200;
  fv_graph_free(graph);
  return small;
}

void run(fv_model* model, bool fuse) {
  fv_session_options options{};
  options.abi = FV_ABI_INIT(fv_session_options);
  options.threads = 1;
  options.flags = fuse ? 0 : FV_SESSION_NO_FUSION;
  fv_session* session = nullptr;
  if (failed(fv_session_new(model, &options, &session))) return;
  const auto fill = [&](size_t i) {
    fv_tensor t{};
    t.abi = FV_ABI_INIT(fv_tensor);
    if (failed(fv_session_input(session, i, &t))) return false;
    if (t.data) std::memset(t.data, static_cast<int>(0x3f + i), t.bytes);
    return true;
  };
  bool good = resize(session, model);
  for (size_t i = 0; good && i < fv_model_inputs(model); ++i) good = fill(i);
  if (good && !failed(fv_session_run(session))) {
    for (size_t i = 0; i < fv_model_outputs(model); ++i) {
      fv_tensor t{};
      t.abi = FV_ABI_INIT(fv_tensor);
      expect(!failed(fv_session_output(session, i, &t)), "outputs can be read after a run");
      unsigned sum = 0;
      for (uint64_t b = 0; b < t.bytes; ++b) sum += static_cast<const uint8_t*>(t.data)[b];
      asm volatile("" : : "r"(sum));
    }
    char* text = nullptr;
    if (!failed(fv_session_explain(session, &text))) fv_string_free(text);
  }
  fv_session_free(session);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fv_log_set(FV_LOG_ERROR, [](void*, fv_log_level, const char*) {}, nullptr);
  expect(!failed(fv_plugin_add(FOVEAL_CPU_PLUGIN)), "the CPU plugin loads");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fv_model* model = nullptr;
  if (failed(fv_model_open_memory(data, size, &model))) return 0;
  for (size_t i = 0; i < fv_model_meta_count(model); ++i)
    expect(fv_model_meta(model, fv_model_meta_key(model, i)), "a key that exists has a value");
  if (is_small(model)) {
    run(model, true);
    run(model, false);
  }
  fv_model_release(model);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  const auto below = [&](uint64_t n) { return n ? random() % n : 0; };
  if (size <= kPrelude + 8 || below(16) == 0) {
    size = LLVMFuzzerMutate(data, size, max_size);
  } else {
    const uint64_t header = std::min<uint64_t>(word(data + kHeaderBytes), size - kPrelude);
    static constexpr int64_t kNumbers[] = {
        -1,         0,      1, 2, 3, 4, 5, 7, 8, 13, 16, 64, 127, 255, 0x7fffffff, -0x80000000ll,
        0x3f800000, 1 << 20};
    for (uint64_t n = 1 + below(3); n > 0; --n) {
      const uint64_t at = kPrelude + below(header);
      switch (below(7)) {
        case 0:  // a number, where 32-bit ones lie
        case 1: {
          const auto v = static_cast<int32_t>(kNumbers[below(std::size(kNumbers))]);
          if (at / 4 * 4 + 4 <= size) std::memcpy(data + at / 4 * 4, &v, 4);
          break;
        }
        case 2: {  // 64-bit ones
          const int64_t v = kNumbers[below(std::size(kNumbers))];
          if (at / 4 * 4 + 8 <= size) std::memcpy(data + at / 4 * 4, &v, 8);
          break;
        }
        case 3: {  // one word in place of another
          const uint64_t from = kPrelude + below(header);
          if (std::max(at, from) / 4 * 4 + 4 <= size)
            std::memmove(data + at / 4 * 4, data + from / 4 * 4, 4);
          break;
        }
        case 4:
        case 5: {  // a small 64-bit number: a dimension, an attribute or a size, no offset
          for (uint64_t p = at / 8 * 8; p + 8 <= kPrelude + header; p += 8) {
            const auto old = static_cast<int64_t>(word(data + p));
            if (old < -2 || old > 4096) continue;
            const int64_t v = below(2) ? old + static_cast<int64_t>(below(5)) - 2
                                       : kNumbers[below(std::size(kNumbers))];
            set_word(data + p, static_cast<uint64_t>(v));
            break;
          }
          break;
        }
        default: {  // libFuzzer's choice, size kept
          const size_t length = std::min<size_t>(size - at, 1 + below(32));
          std::vector<uint8_t> part(data + at, data + at + length);
          LLVMFuzzerMutate(part.data(), length, length);
          std::copy(part.begin(), part.end(), data + at);
        }
      }
    }
  }
  if (below(64) != 0) forge(data, size);
  return size;
}
