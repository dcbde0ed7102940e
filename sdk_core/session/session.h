// A model prepared to run: devices, plans by input shape, and the state of a run in progress.
#ifndef FOVEAL_SESSION_SESSION_H_
#define FOVEAL_SESSION_SESSION_H_

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "plugin/trace.h"
#include "session/model.h"
#include "session/plan.h"

namespace foveal {

struct SessionOptions {
  std::string devices;
  int threads = 0;
  bool fuse = true;
  bool profile = false;
};

// Used by one thread at a time.
class Session {
 public:
  static Result<std::unique_ptr<Session>> create(fv_model* model, const SessionOptions& options);

  Status resize(size_t input, const Dims& dims);
  // Views of the session's memory; plan first if the shapes changed.
  Status input(size_t i, fv_tensor* out);
  Status output(size_t i, fv_tensor* out);

  // Runs segments until all are done or one leaves work pending. With wait, never pending.
  Status start(bool wait, bool* pending);
  Status poll(bool wait, bool* pending);

  Result<std::string> explain();
  Status write_profile(const std::string& path);
  fv_pool* pool() { return &pool_; }
  // Keeps what input() and output() point to alive: the current plan's memory and the weights.
  std::shared_ptr<void> memory() const;
  fv_model* model() const { return model_->get(); }

 private:
  Session(fv_model* model, const SessionOptions& options)
      : model_(std::make_shared<ModelRef>(model)), options_(options) {}
  Status ensure_plan();
  Status advance(bool wait, bool* pending);
  Status run_step(const Step& step, bool resume, bool wait, bool* pending);
  void trace(const Step& step);
  Status view(int value, fv_tensor* out);

  // Plans kept for the shapes used last: enough for a tracker that alternates between a few.
  static constexpr size_t kPlans = 4;
  struct CachedPlan {
    std::vector<Dims> dims;
    std::unique_ptr<Plan> plan;
  };

  std::shared_ptr<ModelRef> model_;  // outlives plans
  SessionOptions options_;
  Backends backends_;
  fv_pool pool_{1};
  std::vector<Dims> dims_;       // of the inputs, as wanted
  std::list<CachedPlan> plans_;  // front = current
  bool stale_ = true;            // dims_ differ from the current plan's
  size_t next_step_ = 0;
  bool running_ = false, pending_ = false;
  std::unique_ptr<fv_trace> trace_;
};

// JSON of the placement, the layouts and the memory plan.
std::string explain_plan(const Plan& plan, const Backends& backends, const fv_model& model);

}  // namespace foveal
#endif  // FOVEAL_SESSION_SESSION_H_
