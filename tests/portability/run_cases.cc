// Runs the operator tests' exported cases (export_cases.py) on whatever machine this is compiled
// for, and compares with what numpy gave. Uses nothing but the C API.
//
//   run_cases CASES [RESULTS]
//
// Prints one line per case that is wrong, then a summary; writes all results to RESULTS, for a
// comparison of two machines. Exit status 1 when a case is wrong or none passed.
//
// CASES, little-endian: "FVCASES1", then records of
//   text name · f64 tolerance · u32 elementwise · bytes model (.fvm)
//   u32 count · (text name · bytes data) per input · u32 count · (text name · bytes data) per
//   output
// text and bytes: u64 length, then that many. RESULTS: per case u32 state (0 passed, 1 refused,
// 2 wrong) and, unless refused, u32 count and per output u32 type (fv_dtype) · bytes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foveal/foveal.h"

namespace {

enum State : uint32_t { kPassed = 0, kRefused = 1, kWrong = 2 };

struct Named {
  std::string_view name, bytes;
};
struct Case {
  std::string_view name, model;
  double tolerance;
  bool elementwise;
  std::vector<Named> inputs, outputs;
};

// Walks over CASES; `good` becomes false at the first thing that is not there.
struct Reader {
  std::string_view left;
  bool good = true;

  template <class T>
  T number() {
    T value{};
    if (left.size() < sizeof(T)) {
      good = false;
      return value;
    }
    std::memcpy(&value, left.data(), sizeof(T));
    left.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view bytes() {
    const auto size = number<uint64_t>();
    if (size > left.size()) good = false;
    if (!good) return {};
    const std::string_view value = left.substr(0, static_cast<size_t>(size));
    left.remove_prefix(static_cast<size_t>(size));
    return value;
  }
  std::vector<Named> list() {
    std::vector<Named> items;
    for (auto n = number<uint32_t>(); good && n > 0; --n) {
      const std::string_view name = bytes();
      items.push_back({name, bytes()});
    }
    return items;
  }
  Case next() {
    Case c;
    c.name = bytes();
    c.tolerance = number<double>();
    c.elementwise = number<uint32_t>() != 0;
    c.model = bytes();
    c.inputs = list();
    c.outputs = list();
    return c;
  }
};

// The size of the error in units of what is allowed; infinity where no tolerance applies.
double excess(const float* got, const float* want, size_t n, double tolerance, bool elementwise) {
  double top = 0;
  for (size_t i = 0; i < n; ++i)
    if (std::isfinite(want[i])) top = std::max(top, std::fabs(static_cast<double>(want[i])));
  double worst = 0;
  for (size_t i = 0; i < n; ++i) {
    const double g = got[i], w = want[i];
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    if (!std::isfinite(w) || !std::isfinite(g)) return INFINITY;
    // As the Python kit: one part in 2^23 of an element near 1 is the grain of float32.
    const double limit =
        elementwise ? tolerance * std::fabs(w) + std::min(tolerance, 1.2e-7) : tolerance * top;
    worst = std::max(worst, limit > 0 ? std::fabs(g - w) / limit : INFINITY);
  }
  return worst;
}

struct Result {
  uint32_t dtype;
  std::string bytes;
  bool operator==(const Result&) const = default;
};
struct Outcome {
  State state = kPassed;
  std::string detail;
  double worst = 0;
  std::vector<Result> results;
};

Outcome failed(fv_status* status) {
  Outcome o{fv_status_code(status) == FV_UNSUPPORTED_OP ? kRefused : kWrong,
            fv_status_text(status),
            INFINITY,
            {}};
  fv_status_free(status);
  return o;
}

struct Close {
  void operator()(fv_model* m) const { fv_model_release(m); }
  void operator()(fv_session* s) const { fv_session_free(s); }
};

Outcome wrong(std::string detail, std::vector<Result> results = {}) {
  return {kWrong, std::move(detail), INFINITY, std::move(results)};
}

// Runs once; `results` are the bytes of the outputs, in the order of the case.
Outcome run_once(const Case& c, fv_model* model, int threads) {
  fv_session* made = nullptr;
  const fv_session_options options{FV_ABI_INIT(fv_session_options), "cpu", threads, 0};
  if (fv_status* s = fv_session_new(model, &options, &made)) return failed(s);
  const std::unique_ptr<fv_session, Close> session(made);
  Outcome o;
  fv_tensor t{};
  t.abi = FV_ABI_INIT(fv_tensor);
  for (size_t i = 0; i < fv_model_inputs(model); ++i) {
    if (fv_status* s = fv_session_input(session.get(), i, &t)) return failed(s);
    const auto found = std::find_if(c.inputs.begin(), c.inputs.end(),
                                    [&](const Named& x) { return x.name == t.name; });
    if (found == c.inputs.end() || found->bytes.size() != t.bytes)
      return wrong(std::string("input ") + t.name + " is not that of the case");
    std::memcpy(t.data, found->bytes.data(), found->bytes.size());
  }
  if (fv_status* s = fv_session_run(session.get())) return failed(s);
  for (const Named& want : c.outputs) {
    size_t i = 0;
    for (; i < fv_model_outputs(model); ++i) {
      if (fv_status* s = fv_session_output(session.get(), i, &t)) return failed(s);
      if (want.name == t.name) break;
    }
    if (i == fv_model_outputs(model)) return wrong("no output " + std::string(want.name));
    o.results.push_back({static_cast<uint32_t>(t.dtype),
                         {static_cast<const char*>(t.data), static_cast<size_t>(t.bytes)}});
    if (want.bytes.size() != t.bytes)
      return wrong(std::string("output ") + t.name + " has another size", o.results);
    if (t.dtype == FV_FLOAT32) {
      // The case's bytes lie at any address.
      std::vector<float> expected(want.bytes.size() / 4);
      if (!expected.empty()) std::memcpy(expected.data(), want.bytes.data(), want.bytes.size());
      o.worst = std::max(o.worst, excess(static_cast<const float*>(t.data), expected.data(),
                                         expected.size(), c.tolerance, c.elementwise));
    } else if (t.bytes && std::memcmp(t.data, want.bytes.data(), want.bytes.size()) != 0) {
      o.worst = INFINITY;
    }
  }
  if (o.worst > 1) {
    char text[64];
    std::snprintf(text, sizeof(text), "error is %g times what is allowed", o.worst);
    o.state = kWrong;
    o.detail = text;
  }
  return o;
}

Outcome run_case(const Case& c) {
  fv_model* opened = nullptr;
  if (fv_status* s = fv_model_open_memory(c.model.data(), c.model.size(), &opened))
    return failed(s);
  const std::unique_ptr<fv_model, Close> model(opened);
  Outcome one = run_once(c, model.get(), 1);
  if (one.state == kPassed) {
    const Outcome two = run_once(c, model.get(), 2);
    if (two.state != kPassed || two.results != one.results)
      return wrong("results differ between 1 and 2 threads", std::move(one.results));
  }
  return one;
}

bool read_all(const char* path, std::string& out) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return false;
  std::vector<char> part(1 << 16);
  for (size_t n; (n = std::fread(part.data(), 1, part.size(), file)) > 0;)
    out.append(part.data(), n);
  const bool good = !std::ferror(file);
  std::fclose(file);
  return good;
}

void write(std::FILE* file, const Outcome& o) {
  std::fwrite(&o.state, sizeof(o.state), 1, file);
  if (o.state == kRefused) return;
  const auto count = static_cast<uint32_t>(o.results.size());
  std::fwrite(&count, sizeof(count), 1, file);
  for (const Result& r : o.results) {
    const uint64_t bytes = r.bytes.size();
    std::fwrite(&r.dtype, sizeof(r.dtype), 1, file);
    std::fwrite(&bytes, sizeof(bytes), 1, file);
    std::fwrite(r.bytes.data(), 1, r.bytes.size(), file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kMagic = "FVCASES1";
  std::string file;
  if (argc < 2 || argc > 3 || !read_all(argv[1], file) ||
      std::string_view(file).substr(0, kMagic.size()) != kMagic) {
    std::fprintf(stderr, "usage: run_cases CASES [RESULTS]; CASES: made by export_cases.py\n");
    return 2;
  }
  std::FILE* results = argc > 2 ? std::fopen(argv[2], "wb") : nullptr;
  if (argc > 2 && !results) {
    std::fprintf(stderr, "cannot write '%s'\n", argv[2]);
    return 2;
  }
  Reader reader{std::string_view(file).substr(kMagic.size())};
  int count[3] = {};
  double worst = 0;
  while (!reader.left.empty()) {
    const Case c = reader.next();
    if (!reader.good) {
      std::fprintf(stderr, "'%s' is damaged\n", argv[1]);
      return 2;
    }
    const Outcome o = run_case(c);
    ++count[o.state];
    if (o.state == kPassed) worst = std::max(worst, o.worst);
    if (o.state == kWrong)
      std::printf("wrong: %.*s: %s\n", static_cast<int>(c.name.size()), c.name.data(),
                  o.detail.c_str());
    if (results) write(results, o);
  }
  const bool written = !results || std::fclose(results) == 0;
  std::printf("%d passed, %d refused, %d wrong; largest error %.3f of what is allowed\n",
              count[kPassed], count[kRefused], count[kWrong], worst);
  return written && count[kWrong] == 0 && count[kPassed] > 0 ? 0 : 1;
}
