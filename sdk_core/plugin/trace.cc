#include "plugin/trace.h"

#include "base/json_text.h"
#include "base/status.h"
#include "base/tensor_type.h"
#include "plugin/view.h"

namespace foveal {
namespace {

fv_trace::Label label_of(const fv_node& node) {
  std::string args =
      "{\"node\":" + std::to_string(node.index) + ",\"op\":" + json_quote(node.node->op);
  if (!node.outputs.empty())
    args += ",\"output\":" + json_quote(to_string(node.outputs[0].value->type)) +
            ",\"layout\":" + json_quote(to_string(node.outputs[0].layout));
  if (!node.posts.empty()) {
    args += ",\"posts\":[";
    for (size_t i = 0; i < node.posts.size(); ++i)
      args += (i ? "," : "") + json_quote(node.posts[i].node->op);
    args += "]";
  }
  return {node.node->name, node.node->op, args + "}"};
}

}  // namespace

void trace_begin(fv_trace* trace, const fv_node*) { trace->opened = now_us(); }

void trace_end(fv_trace* trace, const fv_node* node) {
  trace_event(trace, node, trace->opened, [&] { return label_of(*node); });
}

std::string trace_json(const fv_trace& trace) {
  std::string out = "{\"traceEvents\":[";
  bool first = true;
  for (const fv_trace::Event& e : trace.events) {
    const fv_trace::Label& label = trace.labels[e.label];
    out += first ? "\n" : ",\n";
    first = false;
    out += "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":" + json_quote(label.name) +
           ",\"cat\":" + json_quote(label.category) +
           format(",\"ts\":%.3f,\"dur\":%.3f,\"args\":", e.start_us, e.duration_us) + label.args +
           "}";
  }
  return out + "\n]}\n";
}

}  // namespace foveal
