#include "plugin/view.h"

namespace foveal {

const void* PackedCache::get(const std::string& key, uint64_t bytes,
                             const std::function<void(void*)>& fill) {
  Lock lock(mutex_);
  AlignedBuffer& entry = entries_[key];
  if (!entry) {
    if (bytes > SIZE_MAX) return nullptr;  // 32 bits
    AlignedBuffer filling(aligned_new(static_cast<size_t>(bytes)));
    if (!filling) return nullptr;
    fill(filling.get());
    entry = std::move(filling);
    bytes_ += bytes;
  }
  return entry.get();
}

uint64_t PackedCache::bytes() const {
  Lock lock(mutex_);
  return bytes_;
}

static fv_value value_view(const Graph& graph, int index, const ValueStates& states) {
  fv_value v;
  if (index < 0) return v;
  v.value = &graph.value(index);
  if (v.value->is_constant()) {
    v.layout = kPlain;
    v.flags = FV_VALUE_CONSTANT;
  } else if (static_cast<size_t>(index) < states.size()) {
    const ValueState& s = states[static_cast<size_t>(index)];
    v.layout = s.layout;
    v.slot = s.slot;
    v.flags = s.flags;
  }
  return v;
}

fv_node make_view(const Graph& graph, const Node& node, const ValueStates& states) {
  fv_node view;
  view.node = &node;
  for (int i = 0; i < node.own_inputs(); ++i)
    view.inputs.push_back(value_view(graph, node.inputs[static_cast<size_t>(i)], states));
  for (int o : node.outputs) view.outputs.push_back(value_view(graph, o, states));
  for (const Post& post : node.posts) {
    view.posts.push_back(make_view(graph, post.node, states));
    view.posts.back().chain_input = post.chain_input;
  }
  return view;
}

}  // namespace foveal
