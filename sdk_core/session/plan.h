// What a session prepared for one set of input shapes: compiled segments, copies between them,
// and one block of memory for all of it.
#ifndef FOVEAL_SESSION_PLAN_H_
#define FOVEAL_SESSION_PLAN_H_

#include <memory>
#include <vector>

#include "base/memory.h"
#include "plugin/library.h"
#include "session/model.h"
#include "session/place.h"

namespace foveal {

struct Segment {
  int backend = 0;
  fv_segment view;  // handed to the backend; programs may keep pointers into it
  std::unique_ptr<Program> program;
  std::vector<int> nodes;
  uint64_t workspace = 0;
  void* workspace_data = nullptr;
};

struct Step {
  enum Kind { kRun, kRelayout, kUpload, kDownload } kind;
  int index = 0;    // kRun: segment; kRelayout: node; otherwise value
  int backend = 0;  // kUpload, kDownload
};

// Immovable: views point into it.
struct Plan {
  PlacedGraph placed;
  PackedCache packed;         // of constants that planning made; before segments, which use it
  std::vector<int> root;      // by value: whose memory it shares (views, in-place)
  std::vector<int> position;  // by node: when it runs, in the unit of Life; -1: moves nothing
  std::vector<Segment> segments;
  std::vector<Step> steps;
  std::shared_ptr<void> arena;              // shared with tensors handed out
  uint64_t arena_bytes = 0, sum_bytes = 0;  // sum: what it would be without sharing
  std::vector<void*> host;                  // by slot; nullptr where a value is never in memory
  // by backend, then slot; empty for backends on host memory
  std::vector<std::vector<std::unique_ptr<DeviceBuffer>>> device;
  std::vector<std::vector<void*>> device_table;
  struct Life {
    int value, first, last;
    uint64_t offset, bytes;
  };
  std::vector<Life> lives;  // for explain()

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    segments.clear();  // programs before the caches and buffers they point to
  }
};

struct PlanRequest {
  fv_model* model;
  const Backends* backends;
  std::vector<Dims> input_dims;
  int threads = 1;
  bool fuse = true;
};

Result<std::unique_ptr<Plan>> make_plan(const PlanRequest& request);

}  // namespace foveal
#endif  // FOVEAL_SESSION_PLAN_H_
