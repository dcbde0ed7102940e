#include "plugin/host.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/atomic_file.h"
#include "base/guard.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "foveal/foveal.h"
#include "plugin/trace.h"
#include "plugin/view.h"

namespace foveal {
namespace {

// Nothing in this table lets an exception out: a plugin may be C, or built without them.

// Copies `from` into a struct of the caller's version of T: no further than it has room.
template <class T>
void answer(T* out, T from) {
  const size_t size = std::min<size_t>(out->abi.struct_size, sizeof(T));
  from.abi = out->abi;
  std::memcpy(static_cast<void*>(out), &from, size);
}

void node_info(const fv_node* n, fv_node_info* out) {
  answer(out, fv_node_info{{},
                           n->node->name.c_str(),
                           n->node->op.c_str(),
                           n->node->version,
                           static_cast<int32_t>(n->inputs.size()),
                           static_cast<int32_t>(n->outputs.size()),
                           static_cast<int32_t>(n->posts.size())});
}

const fv_value* node_input(const fv_node* n, int32_t i) {
  if (i < 0 || static_cast<size_t>(i) >= n->inputs.size()) return nullptr;
  const fv_value& v = n->inputs[static_cast<size_t>(i)];
  return v.value ? &v : nullptr;
}
const fv_value* node_output(const fv_node* n, int32_t i) {
  if (i < 0 || static_cast<size_t>(i) >= n->outputs.size()) return nullptr;
  return &n->outputs[static_cast<size_t>(i)];
}

int32_t node_attr(const fv_node* n, const char* name, fv_attr* out) {
  const AttrValue* v = find_attr(n->node->attrs, name);
  if (!v) return 0;
  answer(out, attr_view(*v));
  return 1;
}

void node_post(const fv_node* n, int32_t i, fv_post* out) {
  if (i < 0 || static_cast<size_t>(i) >= n->posts.size()) return;
  const fv_node& p = n->posts[static_cast<size_t>(i)];
  answer(out, fv_post{{}, &p, p.chain_input, 0});
}

void value_info(const fv_value* v, fv_value_info* out) {
  fv_value_info info{};
  info.name = v->value->name.c_str();
  info.data = v->value->constant.data;
  info.dtype = v->value->type.dtype;
  info.rank = static_cast<int32_t>(v->value->type.rank());
  for (int i = 0; i < info.rank && i < FV_MAX_RANK; ++i)
    info.dims[i] = v->value->type.dims[static_cast<size_t>(i)];
  info.layout = v->layout;
  info.bytes =
      static_cast<uint64_t>(std::max<int64_t>(0, storage_bytes(v->value->type, v->layout)));
  info.slot = v->slot;
  info.flags = v->flags;
  answer(out, info);
}

int32_t segment_size(const fv_segment* s) { return static_cast<int32_t>(s->nodes.size()); }
const fv_node* segment_node(const fv_segment* s, int32_t i) {
  return i < 0 || static_cast<size_t>(i) >= s->nodes.size() ? nullptr
                                                            : &s->nodes[static_cast<size_t>(i)];
}
int32_t segment_threads(const fv_segment* s) { return s->threads; }

const void* packed(const fv_segment* s, const fv_value* constant, const char* key, uint64_t bytes,
                   void (*fill)(void*, void*), void* ctx) {
  const void* data = constant->value->constant.data;
  if (!data) return nullptr;
  // Address and size identify a constant as long as its graph lives, and so does the cache.
  PackedCache* cache = s->model_weights->count(data) ? s->model_cache : s->plan_cache;
  char id[64];
  std::snprintf(id, sizeof(id), "%" PRIxPTR "+%" PRIu64 ":", reinterpret_cast<uintptr_t>(data),
                constant->value->constant.bytes);
  return guard_or<const void*>(nullptr, [&] {
    return cache->get(id + s->plugin + ":" + key, bytes, [&](void* dst) { fill(ctx, dst); });
  });
}

int32_t pool_threads(const fv_pool* pool) { return pool ? pool->threads : 1; }

Mutex& cache_mutex() {
  static auto* mutex = new Mutex;
  return *mutex;
}
std::string& cache_dir() {
  static auto* dir = new std::string;
  return *dir;
}
// FNV-1a of the key: a file name that is legal everywhere.
std::string cache_path(const char* key) {
  uint64_t h = 14695981039346656037ull;
  for (const char* p = key; *p; ++p) h = (h ^ static_cast<unsigned char>(*p)) * 1099511628211ull;
  Lock lock(cache_mutex());
  return cache_dir().empty() ? "" : format("%s/%016" PRIx64 ".bin", cache_dir().c_str(), h);
}

// An entry is "key\0" followed by the bytes, so that a hash collision is a miss.
uint64_t read_cache(const char* key, void* dst, uint64_t capacity) {
  const std::string path = cache_path(key);
  if (path.empty()) return 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) return 0;
  std::string all;
  char part[4096];
  for (size_t n; (n = std::fread(part, 1, sizeof(part), file.get())) > 0;) all.append(part, n);
  const size_t head = std::strlen(key) + 1;
  if (all.size() < head || std::memcmp(all.data(), key, head) != 0) return 0;
  std::memcpy(dst, all.data() + head, std::min<size_t>(capacity, all.size() - head));
  return all.size() - head;
}
bool write_cache(const char* key, const void* src, uint64_t bytes) {
  const std::string path = cache_path(key);
  if (path.empty()) return false;
  std::string all(key, std::strlen(key) + 1);
  all.append(static_cast<const char*>(src), bytes);
  return write_file_atomically(path, {{all.data(), all.size()}}).ok();
}

uint64_t cache_get(const char* key, void* dst, uint64_t capacity) {
  return guard_or(uint64_t{0}, [&] { return read_cache(key, dst, capacity); });
}
void cache_put(const char* key, const void* src, uint64_t bytes) {
  // A cache that cannot be written is only slower next time.
  (void)guard_or(false, [&] { return write_cache(key, src, bytes); });
}

}  // namespace

void set_cache_dir(const char* path) {
  Lock lock(cache_mutex());
  cache_dir() = path ? path : "";
}

fv_attr attr_view(const AttrValue& value) {
  fv_attr a{FV_ABI_INIT(fv_attr), 0, 0, 1, nullptr, nullptr, nullptr};
  if (auto* i = std::get_if<int64_t>(&value)) {
    a.type = FV_ATTR_INT;
    a.ints = i;
  } else if (auto* f = std::get_if<double>(&value)) {
    a.type = FV_ATTR_FLOAT;
    a.floats = f;
  } else if (auto* s = std::get_if<std::string>(&value)) {
    a.type = FV_ATTR_STRING;
    a.string = s->c_str();
    a.count = s->size();
  } else if (auto* is = std::get_if<Ints>(&value)) {
    a.type = FV_ATTR_INTS;
    a.ints = is->data();
    a.count = is->size();
  } else if (auto* fs = std::get_if<Floats>(&value)) {
    a.type = FV_ATTR_FLOATS;
    a.floats = fs->data();
    a.count = fs->size();
  }
  return a;
}

const fv_host* host() {
  static const fv_host table{FV_ABI_INIT(fv_host),
                             aligned_new,
                             aligned_free,
                             log,
                             fv_status_new,
                             node_info,
                             node_input,
                             node_output,
                             node_attr,
                             node_post,
                             value_info,
                             segment_size,
                             segment_node,
                             segment_threads,
                             packed,
                             parallel_for,
                             pool_threads,
                             trace_begin,
                             trace_end,
                             cache_get,
                             cache_put};
  return &table;
}

}  // namespace foveal
