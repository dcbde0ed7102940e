// The core's objects behind the opaque handles of plugin.h.
#ifndef FOVEAL_PLUGIN_VIEW_H_
#define FOVEAL_PLUGIN_VIEW_H_

#include <functional>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/memory.h"
#include "base/mutex.h"
#include "foveal/plugin.h"
#include "graph/graph.h"

// A tensor as one node sees it. `value` points into a graph that outlives the view.
struct fv_value {
  const foveal::Value* value = nullptr;
  fv_layout layout{};
  int32_t slot = -1;
  int32_t flags = 0;
};

// A node with its post-ops. Built by make_view; immovable once handed out (elements are
// addressed by pointer), though moving the vectors' owner keeps those addresses.
struct fv_node {
  const foveal::Node* node = nullptr;
  std::vector<fv_value> inputs;  // own inputs; value == nullptr: omitted
  std::vector<fv_value> outputs;
  std::vector<fv_node> posts;
  int32_t chain_input = 0;  // of a post
  int32_t index = -1;       // of the node in its plan's graph, where that is known; not of posts
};

namespace foveal {

// Buffers derived from constants, by key. Entries live as long as the cache.
class PackedCache {
 public:
  // NULL when out of memory. `fill` runs under the cache's lock: once per key.
  const void* get(const std::string& key, uint64_t bytes, const std::function<void(void*)>& fill);
  uint64_t bytes() const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, AlignedBuffer> entries_;
  uint64_t bytes_ = 0;
};

// What a view needs to know of a value besides its type.
struct ValueState {
  fv_layout layout = kAny;
  int32_t slot = -1;
  int32_t flags = 0;
};
using ValueStates = std::vector<ValueState>;  // by value index; may be empty: nothing decided yet

fv_node make_view(const Graph& graph, const Node& node, const ValueStates& states);

}  // namespace foveal

struct fv_segment {
  std::vector<fv_node> nodes;
  int32_t threads = 1;
  std::string plugin;                          // name: part of the key of packed weights
  foveal::PackedCache* model_cache = nullptr;  // for constants of the model file
  foveal::PackedCache* plan_cache = nullptr;   // for constants made while planning
  const std::unordered_set<const void*>* model_weights = nullptr;  // addresses
};

#endif  // FOVEAL_PLUGIN_VIEW_H_
