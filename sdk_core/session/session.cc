#include "session/session.h"

#include "base/atomic_file.h"
#include "base/blocked.h"
#include "base/json_text.h"
#include "plugin/registry.h"

namespace foveal {

Result<std::unique_ptr<Session>> Session::create(fv_model* model, const SessionOptions& options) {
  if (options.threads < 0 || options.threads > 64)
    return Status(FV_INVALID_ARGUMENT,
                  format("threads is %d, expected 0 (choose) to 64", options.threads));
  std::unique_ptr<Session> session(new Session(model, options));
  FV_ASSIGN(const auto devices, Registry::get().find(options.devices));
  for (const Registry::Device& d : devices) {
    FV_ASSIGN(auto backend, Backend::create(d.library, d.index));
    session->backends_.push_back(std::move(backend));
  }
  session->pool_.threads = options.threads ? options.threads : default_threads();
  reserve_workers(session->pool_.threads);
  if (options.profile) session->trace_ = std::make_unique<fv_trace>();
  bool concrete = true;
  for (int v : model->graph.inputs) {
    session->dims_.push_back(model->graph.type(v).dims);
    concrete = concrete && is_concrete(session->dims_.back());
  }
  // With known shapes everything that can go wrong does so here, not at the first frame.
  if (concrete) FV_TRY(session->ensure_plan());
  return session;
}

Status Session::resize(size_t input, const Dims& dims) {
  const Graph& graph = model()->graph;
  if (input >= graph.inputs.size())
    return Status(FV_INVALID_ARGUMENT, format("input %zu does not exist: the model has %zu", input,
                                              graph.inputs.size()));
  const Value& value = graph.value(graph.inputs[input]);
  bool fits = dims.size() == value.type.dims.size();
  for (size_t i = 0; fits && i < dims.size(); ++i)
    fits = dims[i] >= 0 && (value.type.dims[i] < 0 || value.type.dims[i] == dims[i]);
  if (!fits)
    return shape_error("input '" + value.name + "' expects shape " + to_string(value.type.dims) +
                           ", got " + to_string(dims),
                       is_concrete(value.type.dims) ? "" : "dimensions shown as ? may be any size");
  if (running_)
    return Status(FV_INVALID_ARGUMENT, "resize during a run", "poll until nothing is pending");
  stale_ = stale_ || dims != dims_[input];
  dims_[input] = dims;
  return ok();
}

Status Session::ensure_plan() {
  if (!stale_) return ok();
  for (size_t i = 0; i < dims_.size(); ++i)
    if (!is_concrete(dims_[i]))
      return shape_error("input '" + model()->graph.value(model()->graph.inputs[i]).name +
                             "' has shape " + to_string(dims_[i]) + ", which is not decided yet",
                         "give it a shape with resize, or run with an array");
  for (auto it = plans_.begin(); it != plans_.end(); ++it) {
    if (it->dims != dims_) continue;
    plans_.splice(plans_.begin(), plans_, it);
    stale_ = false;
    return ok();
  }
  FV_ASSIGN(auto plan, make_plan({model(), &backends_, dims_, pool_.threads, options_.fuse}));
  if (plans_.size() == kPlans) {
    plans_.pop_back();
    if (trace_) trace_->known.clear();
  }
  plans_.push_front({dims_, std::move(plan)});
  stale_ = false;
  return ok();
}

Status Session::view(int v, fv_tensor* out) {
  const Plan& plan = *plans_.front().plan;
  const Value& value = plan.placed.graph.value(v);
  fv_tensor t{};
  t.abi = out->abi;
  t.name = value.name.c_str();
  t.data = plan.host[static_cast<size_t>(v)];
  t.bytes = static_cast<uint64_t>(storage_bytes(value.type, kPlain));
  t.dtype = value.type.dtype;
  t.rank = value.type.rank();
  for (int i = 0; i < t.rank; ++i) t.dims[i] = value.type.dims[static_cast<size_t>(i)];
  t.layout = kPlain;
  *out = t;
  return ok();
}

Status Session::input(size_t i, fv_tensor* out) {
  FV_TRY(ensure_plan());
  const Plan& plan = *plans_.front().plan;
  if (i >= plan.placed.graph.inputs.size())
    return Status(FV_INVALID_ARGUMENT, format("input %zu does not exist: the model has %zu", i,
                                              plan.placed.graph.inputs.size()));
  FV_TRY(view(plan.placed.graph.inputs[i], out));
  const Graph& graph = model()->graph;
  out->name = graph.value(graph.inputs[i]).name.c_str();
  return ok();
}

Status Session::output(size_t i, fv_tensor* out) {
  FV_TRY(ensure_plan());
  const Plan& plan = *plans_.front().plan;
  if (i >= plan.placed.graph.outputs.size())
    return Status(FV_INVALID_ARGUMENT, format("output %zu does not exist: the model has %zu", i,
                                              plan.placed.graph.outputs.size()));
  FV_TRY(view(plan.placed.graph.outputs[i], out));
  // The name of the signature, not of the conversion or view that ends in it.
  const Graph& graph = model()->graph;
  out->name = graph.value(graph.outputs[i]).name.c_str();
  return ok();
}

std::shared_ptr<void> Session::memory() const {
  struct Both {
    std::shared_ptr<ModelRef> model;
    std::shared_ptr<void> arena;
  };
  return std::make_shared<Both>(
      Both{model_, plans_.empty() ? nullptr : plans_.front().plan->arena});
}

Status Session::start(bool wait, bool* pending) {
  if (running_)
    return Status(FV_INVALID_ARGUMENT, "a run is already in progress",
                  "poll until nothing is pending");
  FV_TRY(ensure_plan());
  next_step_ = 0;
  pending_ = false;
  if (trace_) trace_->run_opened = now_us();
  return advance(wait, pending);
}

Status Session::poll(bool wait, bool* pending) {
  *pending = false;
  return running_ ? advance(wait, pending) : ok();
}

Status Session::advance(bool wait, bool* pending) {
  const std::vector<Step>& steps = plans_.front().plan->steps;
  *pending = false;
  running_ = false;  // unless work is left pending: an error, of whatever kind, ends the run
  while (next_step_ < steps.size()) {
    // A step that is resumed began when it was started.
    if (trace_ && !pending_) trace_->step_opened = now_us();
    bool unfinished = false;
    Status s = run_step(steps[next_step_], pending_, wait, &unfinished);
    FV_TRY(std::move(s));
    pending_ = unfinished;
    if (unfinished && !wait) {
      *pending = running_ = true;
      return ok();
    }
    if (unfinished) continue;
    if (trace_) trace(steps[next_step_]);
    ++next_step_;
  }
  if (trace_)
    trace_event(trace_.get(), this, trace_->run_opened,
                [] { return fv_trace::Label{"run", "session", "{}"}; });
  return ok();
}

void Session::trace(const Step& step) {
  trace_event(trace_.get(), &step, trace_->step_opened, [&] {
    static const char* const names[] = {"segment", "relayout", "upload", "download"};
    static const char* const kinds[] = {"segment", "node", "value", "value"};
    const Plan& plan = *plans_.front().plan;
    const int backend = step.kind == Step::kRun
                            ? plan.segments[static_cast<size_t>(step.index)].backend
                            : step.backend;
    std::string args = format("{\"%s\":%d", kinds[step.kind], step.index);
    if (step.kind != Step::kRelayout)
      args += ",\"device\":" + json_quote(backends_[static_cast<size_t>(backend)]->device().name);
    if (step.kind == Step::kUpload || step.kind == Step::kDownload) {
      const Value& value = plan.placed.graph.value(step.index);
      const fv_layout layout = plan.placed.states[static_cast<size_t>(step.index)].layout;
      args += ",\"bytes\":" + std::to_string(storage_bytes(value.type, layout)) +
              ",\"tensor\":" + json_quote(value.name);
    }
    return fv_trace::Label{names[step.kind], "session", args + "}"};
  });
}

Status Session::run_step(const Step& step, bool resume, bool wait, bool* pending) {
  Plan& plan = *plans_.front().plan;
  const auto index = static_cast<size_t>(step.index);
  const Graph& graph = plan.placed.graph;
  const auto bytes = [&](size_t v) {
    return static_cast<uint64_t>(storage_bytes(graph.values[v].type, plan.placed.states[v].layout));
  };
  switch (step.kind) {
    case Step::kRun: {
      Segment& segment = plan.segments[index];
      int32_t unfinished = 0;
      Status s;
      if (resume) {
        s = segment.program->resume(wait ? 1 : 0, &unfinished);
      } else {
        const bool host = backends_[static_cast<size_t>(segment.backend)]->host_memory();
        const std::vector<void*>& table =
            host ? plan.host : plan.device_table[static_cast<size_t>(segment.backend)];
        const fv_run run{FV_ABI_INIT(fv_run), table.data(), segment.workspace_data, &pool_,
                         trace_.get()};
        s = segment.program->run(run, &unfinished);
      }
      *pending = unfinished != 0;
      return s;
    }
    case Step::kRelayout: {
      const Node& node = graph.nodes[index];
      const auto from = static_cast<size_t>(node.inputs[0]);
      const auto to = static_cast<size_t>(node.outputs[0]);
      if (!convert_layout(graph.values[from].type, plan.host[from], plan.placed.states[from].layout,
                          plan.host[to], plan.placed.states[to].layout))
        return Status(FV_INTERNAL, "layout conversion of '" + node.name + "' is not known");
      return ok();
    }
    case Step::kUpload:
      return plan.device[static_cast<size_t>(step.backend)][index]->write(plan.host[index],
                                                                          bytes(index));
    case Step::kDownload:
      return plan.device[static_cast<size_t>(step.backend)][index]->read(plan.host[index],
                                                                         bytes(index));
  }
  return ok();
}

Result<std::string> Session::explain() {
  FV_TRY(ensure_plan());
  return explain_plan(*plans_.front().plan, backends_, *model());
}

Status Session::write_profile(const std::string& path) {
  if (!trace_)
    return Status(FV_INVALID_ARGUMENT, "this session does not record a profile",
                  "create it with FV_SESSION_PROFILE (Python: profile=True)");
  const std::string json = trace_json(*trace_);
  return write_file_atomically(path, {{json.data(), json.size()}});
}

}  // namespace foveal
