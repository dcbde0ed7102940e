// Model files: round trips, damage of every kind, hostile headers under valid checksums.
#include "graph/model_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "check.h"
#include "graph/checksum.h"
#include "random.h"

using namespace foveal;
using namespace foveal::test;

namespace {

Graph sample() {
  Random r(21);
  Graph g;
  const int x = g.add_value("x", {FV_FLOAT32, {kUnknown, 3, 8, 8}}, {"batch", "", "", ""});
  const int bytes = g.add_value("bytes", {FV_UINT8, {1, 2}});
  g.value(bytes).quantization = {1.0 / 128, 3};
  g.inputs = {x, bytes};
  const Tensor weights = r.tensor({4, 3, 3, 3}), bias = r.tensor({4});
  const int w = g.add_constant("w", {FV_FLOAT32, weights.dims}, weights.data.data());
  const int b = g.add_constant("b", {FV_FLOAT32, bias.dims}, bias.data.data());
  const int c = append(g, "conv2d", {x, w, b}, {{"pad", Ints{1, 1, 1, 1}}})[0];
  const int clip = append(g, "clip", {c}, {{"min", 0.0}})[0];
  const int n = append(g, "layer_norm", {clip, -1, -1})[0];
  const int s = append(g, "resize", {n}, {{"scale", Floats{2, 1.5}}})[0];
  const int32_t index[] = {0, 2, 1};
  const int k = g.add_constant("index", {FV_INT32, {3}}, index);
  const int same = g.add_constant("index again", {FV_INT32, {3}}, g.value(k).constant);
  const int t = append(g, "gather", {s, k}, {{"axis", int64_t{1}}})[0];
  const int u = append(g, "gather", {t, same}, {{"axis", int64_t{1}}})[0];
  g.add_constant("nothing", {FV_FLOAT32, {0, 3}}, bias.data.data());
  g.outputs = {u, clip};
  g.meta = {{"labels", "[\"Gesicht \xc3\xa4\"]"}, {"pipeline", "{}"}};
  return g;
}

bool same_graph(const Graph& a, const Graph& b) {
  if (a.inputs != b.inputs || a.outputs != b.outputs || a.meta != b.meta ||
      a.values.size() != b.values.size() || a.nodes.size() != b.nodes.size())
    return false;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const Value &v = a.values[i], &w = b.values[i];
    if (v.name != w.name || v.type != w.type || v.dim_names != w.dim_names ||
        v.quantization.scale != w.quantization.scale ||
        v.quantization.zero_point != w.quantization.zero_point ||
        v.is_constant() != w.is_constant() || v.constant.bytes != w.constant.bytes)
      return false;
    if (v.constant.bytes && std::memcmp(v.constant.data, w.constant.data, v.constant.bytes))
      return false;
  }
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const Node &n = a.nodes[i], &m = b.nodes[i];
    if (n.op != m.op || n.version != m.version || n.name != m.name || n.inputs != m.inputs ||
        n.outputs != m.outputs || n.attrs.size() != m.attrs.size())
      return false;
    for (size_t k = 0; k < n.attrs.size(); ++k)
      if (n.attrs[k].name != m.attrs[k].name || n.attrs[k].value != m.attrs[k].value) return false;
  }
  return true;
}

// The bytes at a 64-byte boundary, as a mapped file has them.
Result<Graph> open(const std::vector<uint8_t>& bytes, const OpenOptions& options = {}) {
  const Constant block = Constant::copy_of(bytes.data(), bytes.size());
  return open_model(block.data, bytes.size(), block.owner, options);
}
Status open_status(const std::vector<uint8_t>& bytes) {
  auto g = open(bytes);
  return std::move(g.status());
}

std::vector<uint8_t> sample_bytes() {
  auto bytes = serialise_model(sample());
  CHECK_OK(bytes.status());
  return bytes.take();
}

void test_round_trip() {
  const Graph g = sample();
  const std::vector<uint8_t> bytes = sample_bytes();
  auto read = open(bytes);
  if (!CHECK_OK(read.status())) return;
  Graph verified = g;
  CHECK_OK(verify(verified));
  CHECK(same_graph(read.value(), verified));
  for (const Value& v : read.value().values)
    if (v.is_constant()) CHECK(reinterpret_cast<uintptr_t>(v.constant.data) % FV_ALIGNMENT == 0);
  const void* shared[2] = {};
  for (const Value& v : read.value().values) {
    if (v.name == "index") shared[0] = v.constant.data;
    if (v.name == "index again") shared[1] = v.constant.data;
  }
  CHECK(shared[0] && shared[0] == shared[1]);
  auto again = serialise_model(read.value());
  CHECK_OK(again.status());
  CHECK(again.value() == bytes);

  // At an address that is not a multiple of 64 the bytes are copied.
  std::vector<uint8_t> shifted(bytes.size() + 65);
  std::memcpy(shifted.data() + 65, bytes.data(), bytes.size());
  auto copied = open_model(shifted.data() + 65, bytes.size(), nullptr);
  shifted.assign(shifted.size(), 0);
  CHECK_OK(copied.status());
  CHECK(same_graph(copied.value(), verified));
}

size_t read_some(int file, std::vector<uint8_t>& to) {
  const ssize_t n = ::read(file, to.data(), to.size());
  return n < 0 ? 0 : static_cast<size_t>(n);
}

void test_files() {
  const char* temporary = std::getenv("TMPDIR");
  const std::string path = std::string(temporary ? temporary : P_tmpdir) + "/foveal-test-" +
                           std::to_string(getpid()) + ".fvm";
  CHECK_OK(save_model(sample(), path));
  auto read = open_model(path);
  CHECK_OK(read.status());
  CHECK_OK(save_model(read.value(), path));  // over the file it is mapped from
  Graph verified = sample();
  CHECK_OK(verify(verified));
  CHECK(same_graph(read.value(), verified));
  read = open_model(path);
  CHECK_OK(read.status());
  auto truncated = sample_bytes();
  truncated.resize(truncated.size() / 2);
  FILE* f = std::fopen(path.c_str(), "wb");
  CHECK_EQ(std::fwrite(truncated.data(), 1, truncated.size(), f), truncated.size());
  std::fclose(f);
  CHECK(same_graph(read.value(), verified));  // a model outlives what is done to its file
  CHECK_ERROR(open_model(path).status(), FV_MODEL_ERROR, "'" + path + "': model is truncated");
  CHECK_EQ(std::remove(path.c_str()), 0);
  CHECK_EQ(mkfifo(path.c_str(), 0600), 0);
  CHECK_ERROR(open_model(path).status(), FV_IO_ERROR, "a device or a pipe");
  CHECK_EQ(std::remove(path.c_str()), 0);
  CHECK_ERROR(open_model("/dev/zero").status(), FV_IO_ERROR, "a device or a pipe");
  CHECK_ERROR(open_model(path).status(), FV_NOT_FOUND, "No such file");
  CHECK_ERROR(open_model("/").status(), FV_IO_ERROR, "Is a directory");
  CHECK_ERROR(save_model(sample(), "/no/such/folder/m.fvm"), FV_IO_ERROR, "/no/such/folder");
  Graph bad = sample();
  bad.outputs.clear();
  CHECK_ERROR(save_model(bad, path), FV_MODEL_ERROR, "no outputs");

  // A link stays one, and what is no file is written, not replaced.
  const std::string link = path + ".link";
  CHECK_OK(save_model(sample(), path));
  CHECK_EQ(symlink(path.c_str(), link.c_str()), 0);
  CHECK_EQ(truncate(path.c_str(), 0), 0);
  CHECK_OK(save_model(sample(), link));
  struct stat info;
  CHECK(lstat(link.c_str(), &info) == 0 && S_ISLNK(info.st_mode));
  CHECK(same_graph(open_model(path).value(), verified));
  CHECK_EQ(std::remove(path.c_str()), 0);
  CHECK_EQ(mkfifo(path.c_str(), 0600), 0);
  const int pipe = ::open(path.c_str(), O_RDWR | O_NONBLOCK);  // holds a model of this size
  CHECK_OK(save_model(sample(), link));
  CHECK(lstat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode));
  std::vector<uint8_t> written(sample_bytes().size() + 1);
  CHECK_EQ(read_some(pipe, written), written.size() - 1);
  written.pop_back();
  CHECK(written == sample_bytes());
  close(pipe);
  CHECK_EQ(std::remove(path.c_str()), 0);
  CHECK_EQ(std::remove(link.c_str()), 0);

  Graph large = sample();  // enough to be mapped
  const std::vector<float> weights(5 << 20, 1.5f);
  large.add_constant("large", {FV_FLOAT32, {5 << 20}}, weights.data());
  CHECK_OK(save_model(large, path));
  read = open_model(path);
  CHECK_OK(read.status());
  CHECK_OK(verify(large));
  CHECK(same_graph(read.value(), large));
  CHECK_EQ(std::remove(path.c_str()), 0);
}

void test_foreign() {
  auto text = [](const std::string& s) { return std::vector<uint8_t>(s.begin(), s.end()); };
  CHECK_ERROR(open_status({}), FV_MODEL_ERROR, "the file is empty");
  CHECK_ERROR(open_status(text("PK\x03\x04 a zip")), FV_MODEL_ERROR,
              "starts with 'PK\\x03\\x04 a z', expected 'FOVEALM1'");
  CHECK_ERROR(open_status(text("hello")), FV_MODEL_ERROR, "starts with 'hello'");
  CHECK_ERROR(open_status(text(std::string("\x1c\0\0\0TFL3....", 12))), FV_MODEL_ERROR,
              "TensorFlow Lite");
  CHECK_ERROR(open_status(text("FOVEALM")), FV_MODEL_ERROR, "7 bytes");
  CHECK_ERROR(open_status(text("FOVEALM2.........")), FV_MODEL_ERROR,
              "model format is '2', this version reads '1'");
  CHECK_ERROR(open_status(text("FOVEALM1...")), FV_MODEL_ERROR, "truncated: 11 bytes");
}

// Every truncation and every flipped bit is an error.
void test_damage() {
  const std::vector<uint8_t> bytes = sample_bytes();
  for (size_t n = 0; n < bytes.size(); n += n < 200 ? 1 : 37) {
    const auto part = std::vector<uint8_t>(bytes.begin(), bytes.begin() + static_cast<long>(n));
    CHECK_EQ(open_status(part).code(), FV_MODEL_ERROR);
  }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  CHECK_ERROR(open_status(longer), FV_MODEL_ERROR, "too long");
  Random r(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> bad = bytes;
    const int64_t at = round < 600 ? round % static_cast<int64_t>(bad.size())
                                   : r.in(0, static_cast<int64_t>(bad.size()) - 1);
    bad[static_cast<size_t>(at)] ^= static_cast<uint8_t>(1 << r.in(0, 7));
    if (round % 3 == 0)
      for (int64_t more = r.in(1, 8); more > 0; --more)
        bad[static_cast<size_t>(r.in(0, static_cast<int64_t>(bad.size()) - 1))] =
            static_cast<uint8_t>(r.in(0, 255));
    if (bad == bytes) continue;
    CHECK_EQ(open_status(bad).code(), FV_MODEL_ERROR);
  }
}

// As an attacker would: any header, with the checksums made right afterwards. It opens or gives
// an error; what opens passes the verifier again and can be written.
void test_hostile_headers() {
  const std::vector<uint8_t> bytes = sample_bytes();
  uint64_t header, weights;
  std::memcpy(&header, bytes.data() + 16, 8);
  std::memcpy(&weights, bytes.data() + 24, 8);
  Random r(6);
  int opened = 0;
  for (int round = 0; round < 6000; ++round) {
    std::vector<uint8_t> bad = bytes;
    for (int64_t k = r.in(1, 3); k > 0; --k) {
      const auto at = static_cast<size_t>(r.in(64, static_cast<int64_t>(64 + header - 1)));
      const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, static_cast<uint8_t>(r.in(0, 255))};
      if (r.in(0, 1)) {
        bad[at] = odd[r.in(0, 5)];
      } else {
        const int32_t words[] = {-1, 0, 1, INT32_MAX, INT32_MIN, static_cast<int32_t>(r.next())};
        std::memcpy(bad.data() + at / 4 * 4, &words[r.in(0, 5)], 4);
      }
    }
    const uint64_t sum = Checksum::of(bad.data() + 64, weights - 64);
    std::memcpy(bad.data() + 40, &sum, 8);
    const uint64_t prelude = Checksum::of(bad.data(), 56);
    std::memcpy(bad.data() + 56, &prelude, 8);
    auto g = open(bad);
    if (!g.ok()) {
      CHECK(g.status().code() != FV_INTERNAL && !g.status().message().empty());
      continue;
    }
    ++opened;
    CHECK_OK(serialise_model(g.value()).status());
  }
  std::printf("hostile headers: %d of 6000 still valid\n", opened);
}

// Prelude fields that lie, again under a valid checksum.
void test_hostile_prelude() {
  const std::vector<uint8_t> bytes = sample_bytes();
  for (size_t field = 8; field < 56; field += 4)
    for (uint32_t word : {0u, 1u, 63u, 65u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
      std::vector<uint8_t> bad = bytes;
      std::memcpy(bad.data() + field, &word, 4);
      const uint64_t prelude = Checksum::of(bad.data(), 56);
      std::memcpy(bad.data() + 56, &prelude, 8);
      if (bad != bytes) CHECK_EQ(open_status(bad).code(), FV_MODEL_ERROR);
    }
}

void test_checksum() {
  Random r(8);
  std::vector<uint8_t> data(1000);
  for (uint8_t& b : data) b = static_cast<uint8_t>(r.next());
  const uint64_t whole = Checksum::of(data.data(), data.size());
  for (int round = 0; round < 50; ++round) {  // pieces make no difference
    Checksum c;
    size_t at = 0;
    while (at < data.size()) {
      const auto n = std::min(data.size() - at, static_cast<size_t>(r.in(0, 150)));
      c.update(data.data() + at, n);
      at += n;
    }
    CHECK_EQ(c.finish(), whole);
  }
  for (size_t bit = 0; bit < 8 * data.size(); ++bit) {
    data[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    CHECK(Checksum::of(data.data(), data.size()) != whole);
    data[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  const uint8_t zeros[130] = {};
  for (size_t n = 1; n < sizeof(zeros); ++n)  // length counts, not only content
    CHECK(Checksum::of(zeros, n) != Checksum::of(zeros, n - 1));
  // The sums are part of the file format.
  CHECK_EQ(Checksum::of("foveal", 6), uint64_t{0x51e1343f6dc534f0u});
}

}  // namespace

int main() {
  test_round_trip();
  test_files();
  test_foreign();
  test_damage();
  test_hostile_headers();
  test_hostile_prelude();
  test_checksum();
  return CHECK_RESULT();
}
