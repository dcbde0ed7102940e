// What a profiled session records: one event per node ("category" is its operator), one per copy or
// conversion between nodes, per segment and per run (category "session"). Nothing of this is called
// unless the session profiles; while it does, an event costs two clocks and a look-up.
#ifndef FOVEAL_PLUGIN_TRACE_H_
#define FOVEAL_PLUGIN_TRACE_H_

#include <chrono>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/guard.h"
#include "foveal/plugin.h"

// Filled by one thread at a time: the one that runs the session.
struct fv_trace {
  struct Label {
    std::string name, category, args;  // args: a JSON object
  };
  struct Event {
    size_t label;
    double start_us, duration_us;
  };
  std::vector<Label> labels;
  std::vector<Event> events;
  // Nodes and steps, by address, to labels. Cleared when a plan goes: its addresses may come again.
  std::unordered_map<const void*, size_t> known;
  double opened = 0;  // start of the node being traced
  double step_opened = 0, run_opened = 0;
};

namespace foveal {

inline double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
void trace_begin(fv_trace* trace, const fv_node* node);
void trace_end(fv_trace* trace, const fv_node* node);

// An event that began at `start_us` and ends now. `label()` is called when `key` is new. One that
// there is no memory for is left out: the run goes on.
template <class F>
void trace_event(fv_trace* trace, const void* key, double start_us, F&& label) {
  // Enough for minutes of running; beyond it a forgotten profile must not eat all memory.
  constexpr size_t kMaxEvents = 1 << 20;
  if (trace->events.size() >= kMaxEvents) return;
  const double end = now_us();
  (void)guard_or(false, [&] {
    auto it = trace->known.find(key);
    if (it == trace->known.end()) {
      trace->labels.push_back(label());
      it = trace->known.emplace(key, trace->labels.size() - 1).first;
    }
    trace->events.push_back({it->second, start_us, end - start_us});
    return true;
  });
}

// Chrome trace format.
std::string trace_json(const fv_trace& trace);

}  // namespace foveal
#endif  // FOVEAL_PLUGIN_TRACE_H_
