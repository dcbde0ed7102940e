#include "plugin/trace.h"

#include "base/json_text.h"
#include "base/status.h"
#include "base/tensor_type.h"
#include "plugin/view.h"

namespace foveal {

// Enough for minutes of running; beyond it a forgotten profile must not eat all memory.
constexpr size_t kMaxEvents = 1 << 20;

void trace_begin(fv_trace* trace, const fv_node*) { trace->opened = now_us(); }

void trace_end(fv_trace* trace, const fv_node* node) {
  if (trace->events.size() >= kMaxEvents) return;
  const double end = now_us();
  std::string args =
      "{\"node\":" + std::to_string(node->index) + ",\"op\":" + json_quote(node->node->op);
  if (!node->outputs.empty())
    args += ",\"output\":" + json_quote(to_string(node->outputs[0].value->type)) +
            ",\"layout\":" + json_quote(to_string(node->outputs[0].layout));
  if (!node->posts.empty()) {
    args += ",\"posts\":[";
    for (size_t i = 0; i < node->posts.size(); ++i)
      args += (i ? "," : "") + json_quote(node->posts[i].node->op);
    args += "]";
  }
  args += "}";
  trace->events.push_back(
      {node->node->name, node->node->op, std::move(args), trace->opened, end - trace->opened});
}

void trace_step(fv_trace* trace, std::string name, std::string args, double start_us) {
  if (trace->events.size() >= kMaxEvents) return;
  const double end = now_us();
  trace->events.push_back({std::move(name), "session", std::move(args), start_us, end - start_us});
}

std::string trace_json(const fv_trace& trace) {
  std::string out = "{\"traceEvents\":[";
  bool first = true;
  for (const fv_trace::Event& e : trace.events) {
    out += first ? "\n" : ",\n";
    first = false;
    out += "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":" + json_quote(e.name) +
           ",\"cat\":" + json_quote(e.category) +
           format(",\"ts\":%.3f,\"dur\":%.3f,\"args\":", e.start_us, e.duration_us) + e.args + "}";
  }
  return out + "\n]}\n";
}

}  // namespace foveal
