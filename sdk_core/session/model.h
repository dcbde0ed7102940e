// A loaded model: a verified graph, its weights, and what backends derived from them.
#ifndef FOVEAL_SESSION_MODEL_H_
#define FOVEAL_SESSION_MODEL_H_

#include <atomic>

#include "graph/graph.h"
#include "plugin/view.h"

// Reference-counted by C callers and by sessions.
struct fv_model {
  explicit fv_model(foveal::Graph verified) : graph(std::move(verified)) {
    for (const foveal::Value& v : graph.values)
      if (v.is_constant()) weights.insert(v.constant.data);
  }
  const foveal::Graph graph;
  std::unordered_set<const void*> weights;  // addresses of its constants
  foveal::PackedCache packed;               // shared by all sessions
  std::atomic<int> references{1};
};

namespace foveal {

class ModelRef {
 public:
  explicit ModelRef(fv_model* model) : model_(model) { model_->references.fetch_add(1); }
  ~ModelRef() { release(model_); }
  ModelRef(const ModelRef&) = delete;
  ModelRef& operator=(const ModelRef&) = delete;
  fv_model* operator->() const { return model_; }
  fv_model* get() const { return model_; }
  static void release(fv_model* model) {
    if (model && model->references.fetch_sub(1) == 1) delete model;
  }

 private:
  fv_model* model_;
};

}  // namespace foveal
#endif  // FOVEAL_SESSION_MODEL_H_
