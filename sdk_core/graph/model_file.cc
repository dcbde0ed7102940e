#include "graph/model_file.h"

#include <cstring>
#include <map>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "flatbuffers/flatbuffers.h"
#include "flatbuffers/verifier.h"
#include "foveal/plugin.h"
#include "graph/checksum.h"
#include "graph/mapped_file.h"
#include "model_generated.h"

namespace foveal {
namespace {

struct Prelude {
  char magic[8];
  uint32_t prelude_bytes, flags;
  uint64_t header_bytes, weights_offset, file_bytes;
  uint64_t header_sum, weights_sum, prelude_sum;
};
static_assert(sizeof(Prelude) == 64);

constexpr char kMagic[] = "FOVEALM1";
constexpr uint64_t kMaxHeader = uint64_t{1} << 30;

uint64_t align64(uint64_t n) { return (n + FV_ALIGNMENT - 1) / FV_ALIGNMENT * FV_ALIGNMENT; }

Status model_error(std::string message, std::string hint = {}) {
  return Status(FV_MODEL_ERROR, std::move(message), std::move(hint));
}

// ---- Reading ---------------------------------------------------------------------------------

Status not_a_model(const char* p, size_t bytes) {
  if (bytes == 0) return model_error("not a Foveal model: the file is empty");
  if (bytes >= 7 && !std::memcmp(p, kMagic, 7))
    return bytes == 7 ? model_error("not a Foveal model: 7 bytes, expected at least 64")
                      : model_error(format("model format is '%c', this version reads '%c'",
                                           p[7] >= 32 && p[7] < 127 ? p[7] : '?', kMagic[7]),
                                    "update foveal, or convert the model again");
  if (bytes >= 8 && !std::memcmp(p + 4, "TFL3", 4))
    return model_error("not a Foveal model: this is a TensorFlow Lite file",
                       "use foveal convert to make an .fvm of it");
  std::string start;
  for (size_t i = 0; i < bytes && i < 8; ++i) {
    const auto c = static_cast<unsigned char>(p[i]);
    start +=
        c >= 32 && c < 127 && c != '\'' && c != '\\' ? std::string(1, p[i]) : format("\\x%02x", c);
  }
  return model_error("not a Foveal model: starts with '" + start + "', expected 'FOVEALM1'",
                     "use foveal convert for .onnx and .tflite files");
}

Status check_prelude(const char* p, size_t bytes, Prelude& h, bool check_weights) {
  if (bytes < 8 || std::memcmp(p, kMagic, 8)) return not_a_model(p, bytes);
  if (bytes < sizeof(Prelude))
    return model_error(format("model is truncated: %zu bytes, expected at least 64", bytes));
  std::memcpy(&h, p, sizeof(h));
  const char* hint = "the file is damaged: fetch or convert it again";
  if (Checksum::of(p, offsetof(Prelude, prelude_sum)) != h.prelude_sum)
    return model_error("model is damaged: the checksum of its first 64 bytes is wrong", hint);
  if (h.prelude_bytes != sizeof(Prelude) || h.flags)
    return model_error(format("model has a prelude of %u bytes with flags %u, expected 64 and 0",
                              h.prelude_bytes, h.flags),
                       "update foveal");
  if (h.file_bytes != bytes)
    return model_error(format("model is %s: %zu bytes, expected %llu",
                              bytes < h.file_bytes ? "truncated" : "too long", bytes,
                              static_cast<unsigned long long>(h.file_bytes)),
                       hint);
  if (h.header_bytes > kMaxHeader ||
      h.weights_offset != align64(sizeof(Prelude) + h.header_bytes) || h.weights_offset > bytes)
    return model_error(format("model is damaged: header of %llu bytes, weights at %llu of %zu",
                              static_cast<unsigned long long>(h.header_bytes),
                              static_cast<unsigned long long>(h.weights_offset), bytes),
                       hint);
  if (Checksum::of(p + sizeof(Prelude), h.weights_offset - sizeof(Prelude)) != h.header_sum)
    return model_error("model is damaged: the checksum of its header is wrong", hint);
  if (check_weights &&
      Checksum::of(p + h.weights_offset, bytes - h.weights_offset) != h.weights_sum)
    return model_error("model is damaged: the checksum of its weights is wrong", hint);
  return ok();
}

// Copies the header into a Graph. FlatBuffers lets parts be shared, so a small hostile header
// could unfold into a huge graph: `budget` bounds everything that is copied.
class Reader {
 public:
  Reader(const char* weights, uint64_t weights_bytes, uint64_t budget,
         std::shared_ptr<const void> owner)
      : weights_(weights),
        weights_bytes_(weights_bytes),
        budget_(budget),
        owner_(std::move(owner)) {}

  Status read(const fb::Model& model, Graph& g) {
    if (!model.graphs() || model.graphs()->size() == 0)
      return model_error("model contains no graph");
    const fb::Graph& in = *model.graphs()->Get(0);
    if (in.values())
      for (const fb::Value* v : *in.values()) FV_TRY(read_value(*v, g));
    if (in.nodes())
      for (const fb::Node* n : *in.nodes()) FV_TRY(read_node(*n, g));
    g.inputs = list(in.inputs());
    g.outputs = list(in.outputs());
    if (model.meta())
      for (const fb::Meta* m : *model.meta()) g.meta[text(m->key())] = text(m->value());
    return spent();
  }

 private:
  Status spent() const {
    return over_ ? model_error("model is damaged: its header unfolds to more than it holds") : ok();
  }
  bool take(uint64_t bytes) {
    if (over_ || bytes > budget_) {
      over_ = true;
      return false;
    }
    budget_ -= bytes;
    return true;
  }
  std::string text(const flatbuffers::String* s) {
    return s && take(s->size() + 8) ? s->str() : std::string();
  }
  // By memcpy: the FlatBuffers verifier does not promise that elements of 8 bytes are aligned.
  template <class T>
  std::vector<T> list(const flatbuffers::Vector<T>* v) {
    if (!v || !take(v->size() * sizeof(T) + 8)) return {};
    std::vector<T> out(v->size());
    if (!out.empty()) std::memcpy(out.data(), v->Data(), out.size() * sizeof(T));
    return out;
  }

  Status read_value(const fb::Value& in, Graph& g) {
    take(32);
    Value v;
    v.name = text(in.name());
    v.type = {in.dtype(), list(in.dims())};
    if (in.dim_names())
      for (const flatbuffers::String* s : *in.dim_names()) v.dim_names.push_back(text(s));
    v.quantization = {in.scale(), in.zero_point()};
    if (in.constant()) {
      if (in.offset() % FV_ALIGNMENT || in.offset() > weights_bytes_ ||
          in.bytes() > weights_bytes_ - in.offset())
        return model_error(format("constant '%s' lies at %llu + %llu of %llu bytes of weights",
                                  v.name.c_str(), static_cast<unsigned long long>(in.offset()),
                                  static_cast<unsigned long long>(in.bytes()),
                                  static_cast<unsigned long long>(weights_bytes_)));
      v.constant = Constant::borrow(weights_ + in.offset(), in.bytes(), owner_);
    }
    g.values.push_back(std::move(v));
    return spent();
  }

  Status read_node(const fb::Node& in, Graph& g) {
    take(32);
    Node n;
    n.op = text(in.op());
    n.version = in.version();
    n.name = text(in.name());
    n.inputs = list(in.inputs());
    n.outputs = list(in.outputs());
    if (in.attrs())
      for (const fb::Attr* a : *in.attrs()) {
        take(16);
        Attr attr{text(a->name()), int64_t{0}};
        switch (a->type()) {
          case FV_ATTR_INT:
            attr.value = a->i();
            break;
          case FV_ATTR_FLOAT:
            attr.value = a->f();
            break;
          case FV_ATTR_STRING:
            attr.value = text(a->s());
            break;
          case FV_ATTR_INTS:
            attr.value = list(a->ints());
            break;
          case FV_ATTR_FLOATS:
            attr.value = list(a->floats());
            break;
          default:
            return model_error(format("attribute '%s' of node '%s' has type %d, expected 1 to 5",
                                      attr.name.c_str(), n.name.c_str(), a->type()));
        }
        n.attrs.push_back(std::move(attr));
        FV_TRY(spent());
      }
    g.nodes.push_back(std::move(n));
    return spent();
  }

  const char* weights_;
  uint64_t weights_bytes_, budget_;
  std::shared_ptr<const void> owner_;
  bool over_ = false;
};

Result<Graph> parse(const MappedFile& file, const OpenOptions& options) {
  const char* p = static_cast<const char*>(file.data);
  Prelude h;
  FV_TRY(check_prelude(p, file.bytes, h, options.check_weights));
  flatbuffers::Verifier::Options limits;
  limits.max_depth = 16;
  limits.max_tables = 1 << 22;
  limits.max_size = kMaxHeader + 1;
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(p) + sizeof(Prelude),
                                 h.header_bytes, limits);
  if (!fb::VerifyModelBuffer(verifier))
    return model_error("model is damaged: its header is not a valid FlatBuffer");
  Graph g;
  Reader reader(p + h.weights_offset, file.bytes - h.weights_offset, (1 << 20) + 8 * h.header_bytes,
                file.owner);
  FV_TRY(reader.read(*fb::GetModel(p + sizeof(Prelude)), g));
  FV_TRY(verify(g, options.verify));
  return g;
}

// ---- Writing ---------------------------------------------------------------------------------

// A finished file as a list of pieces: the weights are written from where they lie.
struct Image {
  std::vector<uint8_t> head;  // prelude, header, padding
  std::vector<FilePart> parts;
};

const char kZeros[FV_ALIGNMENT] = {};

class Writer {
 public:
  Status write(const Graph& g, Image& image) {
    FV_TRY(check_size(g));
    layout(g);
    std::vector<flatbuffers::Offset<fb::Value>> values;
    for (const Value& v : g.values) values.push_back(value(v));
    std::vector<flatbuffers::Offset<fb::Node>> nodes;
    for (const Node& n : g.nodes) nodes.push_back(node(n));
    std::vector<flatbuffers::Offset<fb::Meta>> meta;
    for (const auto& [key, text] : g.meta)
      meta.push_back(fb::CreateMeta(b_, b_.CreateString(key), b_.CreateString(text)));
    const auto name = b_.CreateString("main");
    const auto all_values = b_.CreateVector(values);
    const auto all_nodes = b_.CreateVector(nodes);
    const auto inputs = b_.CreateVector(g.inputs), outputs = b_.CreateVector(g.outputs);
    const auto graph = fb::CreateGraph(b_, name, all_values, all_nodes, inputs, outputs);
    const auto graphs = b_.CreateVector(&graph, 1);
    const auto all_meta = b_.CreateVector(meta);
    b_.Finish(fb::CreateModel(b_, graphs, all_meta, b_.CreateSharedString("foveal")));
    assemble(image);
    return ok();
  }

 private:
  // The builder aborts beyond 2 GB, so refuse long before.
  static Status check_size(const Graph& g) {
    uint64_t n = 0;
    for (const Value& v : g.values) {
      n += v.name.size() + 8 * v.type.dims.size() + 96;
      for (const std::string& s : v.dim_names) n += s.size() + 16;
    }
    for (const Node& node : g.nodes) {
      n += node.name.size() + node.op.size() + 4 * (node.inputs.size() + node.outputs.size()) + 96;
      for (const Attr& a : node.attrs) {
        n += a.name.size() + 64;
        if (auto* s = std::get_if<std::string>(&a.value)) n += s->size();
        if (auto* s = std::get_if<Ints>(&a.value)) n += 8 * s->size();
        if (auto* s = std::get_if<Floats>(&a.value)) n += 8 * s->size();
      }
    }
    for (const auto& [key, text] : g.meta) n += key.size() + text.size() + 64;
    if (n <= kMaxHeader) return ok();
    return model_error(format("the graph takes %.1f GB without its weights, the limit is 1 GB",
                              static_cast<double>(n) / 1e9));
  }

  // Places constants; those that share memory share their place.
  void layout(const Graph& g) {
    for (const Value& v : g.values) {
      if (!v.is_constant()) continue;
      const auto [it, fresh] = places_.insert({{v.constant.data, v.constant.bytes}, end_});
      if (!fresh || v.constant.bytes == 0) continue;
      if (it->second > filled_)
        weights_.push_back({kZeros, static_cast<size_t>(it->second - filled_)});
      weights_.push_back({v.constant.data, static_cast<size_t>(v.constant.bytes)});
      filled_ = end_ + v.constant.bytes;
      end_ = align64(filled_);
    }
  }

  flatbuffers::Offset<fb::Value> value(const Value& v) {
    const auto name = b_.CreateString(v.name);
    const auto dims = b_.CreateVector(v.type.dims);
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> names;
    if (!v.dim_names.empty()) names = b_.CreateVectorOfStrings(v.dim_names);
    const bool constant = v.is_constant();
    const uint64_t offset =
        constant && v.constant.bytes ? places_.at({v.constant.data, v.constant.bytes}) : 0;
    return fb::CreateValue(b_, name, v.type.dtype, dims, names, constant, offset,
                           constant ? v.constant.bytes : 0, v.quantization.scale,
                           v.quantization.zero_point);
  }

  flatbuffers::Offset<fb::Node> node(const Node& n) {
    std::vector<flatbuffers::Offset<fb::Attr>> attrs;
    for (const Attr& a : n.attrs) attrs.push_back(attr(a));
    const auto op = b_.CreateSharedString(n.op);
    const auto name = b_.CreateString(n.name);
    const auto inputs = b_.CreateVector(n.inputs), outputs = b_.CreateVector(n.outputs);
    const auto list = b_.CreateVector(attrs);
    return fb::CreateNode(b_, op, n.version, name, inputs, outputs, list);
  }

  flatbuffers::Offset<fb::Attr> attr(const Attr& a) {
    const auto name = b_.CreateSharedString(a.name);
    if (auto* v = std::get_if<int64_t>(&a.value)) return fb::CreateAttr(b_, name, FV_ATTR_INT, *v);
    if (auto* v = std::get_if<double>(&a.value))
      return fb::CreateAttr(b_, name, FV_ATTR_FLOAT, 0, *v);
    if (auto* v = std::get_if<std::string>(&a.value))
      return fb::CreateAttr(b_, name, FV_ATTR_STRING, 0, 0, b_.CreateString(*v));
    if (auto* v = std::get_if<Ints>(&a.value))
      return fb::CreateAttr(b_, name, FV_ATTR_INTS, 0, 0, 0, b_.CreateVector(*v));
    return fb::CreateAttr(b_, name, FV_ATTR_FLOATS, 0, 0, 0, 0,
                          b_.CreateVector(std::get<Floats>(a.value)));
  }

  void assemble(Image& image) {
    Prelude h{};
    std::memcpy(h.magic, kMagic, 8);
    h.prelude_bytes = sizeof(Prelude);
    h.header_bytes = b_.GetSize();
    h.weights_offset = align64(sizeof(Prelude) + h.header_bytes);
    h.file_bytes = h.weights_offset + filled_;
    image.head.assign(h.weights_offset, 0);
    std::memcpy(image.head.data() + sizeof(Prelude), b_.GetBufferPointer(), h.header_bytes);
    h.header_sum =
        Checksum::of(image.head.data() + sizeof(Prelude), h.weights_offset - sizeof(Prelude));
    Checksum sum;
    for (const FilePart& part : weights_) sum.update(part.data, part.bytes);
    h.weights_sum = sum.finish();
    h.prelude_sum = Checksum::of(&h, offsetof(Prelude, prelude_sum));
    std::memcpy(image.head.data(), &h, sizeof(h));
    image.parts.push_back({image.head.data(), image.head.size()});
    image.parts.insert(image.parts.end(), weights_.begin(), weights_.end());
  }

  flatbuffers::FlatBufferBuilder b_;
  std::map<std::pair<const void*, uint64_t>, uint64_t> places_;  // memory -> offset in weights
  std::vector<FilePart> weights_;
  uint64_t end_ = 0;     // where the next constant goes
  uint64_t filled_ = 0;  // bytes of weights so far
};

// `image` points into `g`.
Status make_image(Graph& g, Image& image) {
  FV_TRY(verify(g));
  return Writer().write(g, image);
}

}  // namespace

Result<Graph> open_model(const std::string& path, const OpenOptions& options) {
  FV_ASSIGN(const MappedFile file, map_file(path));
  auto graph = parse(file, options);
  if (!graph.ok()) return std::move(graph.status()).within("'" + path + "'");
  return graph;
}

Result<Graph> open_model(const void* data, size_t bytes, std::shared_ptr<const void> owner,
                         const OpenOptions& options) {
  if (reinterpret_cast<uintptr_t>(data) % FV_ALIGNMENT == 0 && data)
    return parse({data, bytes, std::move(owner)}, options);
  const Constant copy = Constant::copy_of(data, bytes);
  if (!copy) return Status(FV_OUT_OF_MEMORY, format("no memory for a model of %zu bytes", bytes));
  return parse({copy.data, bytes, copy.owner}, options);
}

Result<std::vector<uint8_t>> serialise_model(const Graph& graph) {
  Graph g = graph;
  Image image;
  FV_TRY(make_image(g, image));
  std::vector<uint8_t> bytes;
  for (const FilePart& part : image.parts) {
    const auto* p = static_cast<const uint8_t*>(part.data);
    bytes.insert(bytes.end(), p, p + part.bytes);
  }
  return bytes;
}

Status save_model(const Graph& graph, const std::string& path) {
  Graph g = graph;
  Image image;
  FV_TRY(make_image(g, image));
  return write_file_atomically(path, image.parts);
}

}  // namespace foveal
