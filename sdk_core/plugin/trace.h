// What a profiled session records: one event per node ("category" is its operator), one per copy or
// conversion between nodes, per segment and per run (category "session"). Nothing of this is called
// unless the session profiles.
#ifndef FOVEAL_PLUGIN_TRACE_H_
#define FOVEAL_PLUGIN_TRACE_H_

#include <chrono>
#include <string>
#include <vector>

#include "foveal/plugin.h"

// Filled by one thread at a time: the one that runs the session.
struct fv_trace {
  struct Event {
    std::string name, category, args;  // args: a JSON object
    double start_us, duration_us;
  };
  std::vector<Event> events;
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
// `args`: a JSON object.
void trace_step(fv_trace* trace, std::string name, std::string args, double start_us);
// Chrome trace format.
std::string trace_json(const fv_trace& trace);

}  // namespace foveal
#endif  // FOVEAL_PLUGIN_TRACE_H_
