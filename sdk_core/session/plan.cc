#include "session/plan.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "graph/infer.h"
#include "session/memory_plan.h"

namespace foveal {
namespace {

constexpr int kHost = -1;  // a place a value can be in, beside backend numbers

class Planner {
 public:
  Planner(Plan& plan, const PlanRequest& request)
      : plan_(plan), request_(request), backends_(*request.backends) {}

  Status run() {
    order_nodes();
    alias_views();
    form_segments();
    FV_TRY(compile());
    return allocate();
  }

 private:
  Graph& graph() { return plan_.placed.graph; }
  Placed& placed(int node) { return plan_.placed.placed[static_cast<size_t>(node)]; }
  const Node& node(int i) { return graph().nodes[static_cast<size_t>(i)]; }
  int root(int v) const { return plan_.root[static_cast<size_t>(v)]; }
  bool on_device(int backend) const {
    return backend >= 0 && !backends_[static_cast<size_t>(backend)]->host_memory();
  }

  // Stays with one backend as long as any of its nodes is ready: fewest segments for a list
  // schedule, and the model's own order within a backend.
  void order_nodes() {
    const size_t n = graph().nodes.size();
    const std::vector<std::vector<int>> users = graph().users();
    const std::vector<int> producer = graph().producers();
    std::vector<int> waiting(n, 0);      // inputs whose producers have not run
    std::map<int, std::set<int>> ready;  // by backend
    for (size_t i = 0; i < n; ++i) {
      std::set<int> before;
      for (int v : graph().nodes[i].inputs)
        if (v >= 0 && producer[static_cast<size_t>(v)] >= 0)
          before.insert(producer[static_cast<size_t>(v)]);
      waiting[i] = static_cast<int>(before.size());
      if (before.empty()) ready[placed(static_cast<int>(i)).backend].insert(static_cast<int>(i));
    }
    const auto first = [&](int backend) {
      const auto it = ready.find(backend);
      return it == ready.end() || it->second.empty() ? -1 : *it->second.begin();
    };
    int current = kCore;
    while (order_.size() < n) {
      int next = first(kCore);
      if (const int own = first(current); own >= 0 && (next < 0 || own < next)) next = own;
      for (auto it = ready.begin(); next < 0 && it != ready.end(); ++it) next = first(it->first);
      if (next < 0) return;  // cannot happen: the graph is acyclic
      const int backend = placed(next).backend;
      if (backend != kCore) current = backend;
      ready[backend].erase(next);
      order_.push_back(next);
      std::set<int> after;
      for (int o : node(next).outputs)
        after.insert(users[static_cast<size_t>(o)].begin(), users[static_cast<size_t>(o)].end());
      for (int i : after)
        if (--waiting[static_cast<size_t>(i)] == 0) ready[placed(i).backend].insert(i);
    }
  }

  // A core node that moves nothing: its output is its input under another name, or is empty.
  bool is_alias(int i) {
    const Node& n = node(i);
    if (placed(i).backend != kCore && n.op != "relayout") return false;
    if (n.op != "relayout") return true;
    // NCxHWx with one pixel and full blocks has the bytes of the plain layout.
    const TensorType& t = graph().type(n.inputs[0]);
    const fv_layout a = state(n.inputs[0]).layout, b = state(n.outputs[0]).layout;
    if (on_device(placed(i).backend)) return false;
    int64_t inner = 1;
    for (int d = 2; d < t.rank(); ++d) inner *= t.dims[static_cast<size_t>(d)];
    const auto full = [&](fv_layout l) {
      return l.id == FV_LAYOUT_PLAIN || (l.id == FV_LAYOUT_NCXHWX && t.dims[1] % l.block == 0);
    };
    return inner == 1 && full(a) && full(b);
  }

  ValueState& state(int v) { return plan_.placed.states[static_cast<size_t>(v)]; }

  void alias_views() {
    plan_.root.resize(graph().values.size());
    for (size_t v = 0; v < plan_.root.size(); ++v) plan_.root[v] = static_cast<int>(v);
    for (int i : order_)
      if (is_alias(i)) {
        const int from = root(node(i).inputs[0]);
        for (int o : node(i).outputs) plan_.root[static_cast<size_t>(o)] = from;
        aliases_.insert(i);
      }
  }

  // Brings `v` to `place`, emitting the copies needed. All members of an alias set are at the
  // same places, so the root stands for them.
  void bring(int v, int place) {
    v = root(v);
    if (graph().value(v).is_constant()) return;
    auto& places = places_[static_cast<size_t>(v)];
    if (places.count(place)) return;
    if (place != kHost && !places.count(kHost)) bring(v, kHost);
    if (place == kHost) {
      emit({Step::kDownload, v, *places.begin()});
    } else {
      emit({Step::kUpload, v, place});
    }
    places.insert(place);
  }

  void emit(Step step) {
    plan_.steps.push_back(step);
    step_position_.push_back(position_++);
  }

  void form_segments() {
    places_.resize(graph().values.size());
    node_position_.assign(graph().nodes.size(), 0);
    for (int v : graph().inputs) places_[static_cast<size_t>(root(v))] = {kHost};
    size_t open = SIZE_MAX;  // segment that can still grow
    for (int i : order_) {
      const Node& n = node(i);
      const int backend = placed(i).backend;
      if (aliases_.count(i)) {
        // On a device the view is of the host copy.
        bool device = false;
        for (int p : places_[static_cast<size_t>(root(n.inputs[0]))]) device |= on_device(p);
        if (device) bring(n.inputs[0], kHost);
        node_position_[static_cast<size_t>(i)] = position_;
        continue;
      }
      const int place = on_device(backend) ? backend : kHost;
      const size_t steps_before = plan_.steps.size();
      for (int v : n.inputs)
        if (v >= 0) bring(v, place);
      if (backend == kCore) {
        node_position_[static_cast<size_t>(i)] = position_;
        emit({Step::kRelayout, i, kHost});
        open = SIZE_MAX;
      } else {
        if (plan_.steps.size() != steps_before) open = SIZE_MAX;
        if (open == SIZE_MAX || plan_.segments[open].backend != backend) {
          open = plan_.segments.size();
          plan_.segments.emplace_back();
          plan_.segments.back().backend = backend;
          emit({Step::kRun, static_cast<int>(open), kHost});
        }
        plan_.segments[open].nodes.push_back(i);
        node_position_[static_cast<size_t>(i)] = position_++;
      }
      for (int o : n.outputs) places_[static_cast<size_t>(root(o))] = {place};
    }
    for (int v : graph().outputs) bring(v, kHost);
  }

  void flag_boundaries(const Segment& segment, const std::vector<std::vector<int>>& users) {
    const std::set<int> mine(segment.nodes.begin(), segment.nodes.end());
    std::set<int> inside;
    for (int i : segment.nodes)
      for (int o : node(i).outputs) {
        inside.insert(o);
        bool outside = results_.count(o) > 0;
        for (int user : users[static_cast<size_t>(o)]) outside |= !mine.count(user);
        state(o).flags = outside ? FV_VALUE_SEGMENT_OUTPUT : 0;
      }
    for (int i : segment.nodes)
      for (int v : node(i).inputs)
        if (v >= 0 && !inside.count(v)) state(v).flags = FV_VALUE_SEGMENT_INPUT;
  }

  Status compile() {
    const std::vector<std::vector<int>> users = graph().users();
    results_.insert(graph().outputs.begin(), graph().outputs.end());
    for (Segment& s : plan_.segments) {
      flag_boundaries(s, users);
      const auto& backend = backends_[static_cast<size_t>(s.backend)];
      for (int i : s.nodes) {
        s.view.nodes.push_back(make_view(graph(), node(i), plan_.placed.states));
        s.view.nodes.back().index = i;
      }
      s.view.threads = request_.threads;
      s.view.plugin = backend->library().name() + backend->library().version();
      s.view.model_cache = &request_.model->packed;
      s.view.plan_cache = &plan_.packed;
      s.view.model_weights = &request_.model->weights;
      FV_ASSIGN(s.program, Program::compile(backend, s.view));
      s.workspace = s.program->workspace();
    }
    return ok();
  }

  // First write and last read of every host buffer, in positions.
  Status allocate() {
    const size_t n = graph().values.size();
    std::vector<int> first(n, std::numeric_limits<int>::max()), last(n, -1);
    const auto touch = [&](int v, int position) {
      if (v < 0 || graph().value(root(v)).is_constant()) return;
      const auto r = static_cast<size_t>(root(v));
      first[r] = std::min(first[r], position);
      last[r] = std::max(last[r], position);
    };
    for (int i : order_) {
      if (on_device(placed(i).backend)) continue;
      for (int v : node(i).inputs) touch(v, node_position_[static_cast<size_t>(i)]);
      for (int v : node(i).outputs) touch(v, node_position_[static_cast<size_t>(i)]);
    }
    for (size_t s = 0; s < plan_.steps.size(); ++s)
      if (plan_.steps[s].kind == Step::kUpload || plan_.steps[s].kind == Step::kDownload)
        touch(plan_.steps[s].index, step_position_[s]);
    // The application writes inputs and reads outputs between runs.
    for (int v : graph().inputs) touch(v, 0), touch(v, position_);
    for (int v : graph().outputs) touch(v, position_);
    share_in_place(first, last);

    std::vector<Lifetime> lives;
    std::vector<int> owner;  // value, or -1 - segment
    for (size_t v = 0; v < n; ++v) {
      if (root(static_cast<int>(v)) != static_cast<int>(v) || last[v] < 0) continue;
      const int64_t bytes =
          storage_bytes(graph().values[v].type, state(static_cast<int>(v)).layout);
      if (bytes < 0)
        return Status(FV_SHAPE_ERROR, "tensor '" + graph().values[v].name + "' of type " +
                                          to_string(graph().values[v].type) +
                                          " has no representable size");
      lives.push_back({static_cast<uint64_t>(bytes), first[v], last[v], 0});
      owner.push_back(static_cast<int>(v));
      plan_.sum_bytes += static_cast<uint64_t>(bytes);
    }
    for (size_t s = 0; s < plan_.segments.size(); ++s) {
      const Segment& segment = plan_.segments[s];
      if (!segment.workspace) continue;
      lives.push_back({segment.workspace,
                       node_position_[static_cast<size_t>(segment.nodes.front())],
                       node_position_[static_cast<size_t>(segment.nodes.back())], 0});
      owner.push_back(-1 - static_cast<int>(s));
      plan_.sum_bytes += segment.workspace;
    }
    plan_.position = node_position_;
    for (int i : aliases_) plan_.position[static_cast<size_t>(i)] = -1;
    plan_.arena_bytes = plan_memory(lives);
    if (plan_.arena_bytes != UINT64_MAX && plan_.arena_bytes <= SIZE_MAX)
      plan_.arena.reset(aligned_new(static_cast<size_t>(plan_.arena_bytes)), aligned_free);
    if (!plan_.arena)
      return Status(
          FV_OUT_OF_MEMORY,
          format("no memory for %.1f MB of tensors", static_cast<double>(plan_.arena_bytes) / 1e6),
          "use smaller input shapes");
    char* base = static_cast<char*>(plan_.arena.get());
    plan_.host.assign(n, nullptr);
    for (size_t i = 0; i < lives.size(); ++i) {
      plan_.lives.push_back(
          {owner[i], lives[i].first, lives[i].last, lives[i].offset, lives[i].bytes});
      if (owner[i] >= 0)
        plan_.host[static_cast<size_t>(owner[i])] = base + lives[i].offset;
      else
        plan_.segments[static_cast<size_t>(-1 - owner[i])].workspace_data = base + lives[i].offset;
    }
    for (size_t v = 0; v < n; ++v) {
      const auto r = static_cast<size_t>(root(static_cast<int>(v)));
      if (graph().values[r].is_constant())
        plan_.host[v] =
            const_cast<void*>(graph().values[r].constant.data);  // read-only by contract
      else
        plan_.host[v] = plan_.host[r];
    }
    // Looked at before the first run, results are zeros, not what the heap held before.
    for (int v : graph().outputs) {
      const int r = root(v);
      if (!graph().value(r).is_constant())
        std::memset(plan_.host[static_cast<size_t>(r)], 0,
                    static_cast<size_t>(storage_bytes(graph().type(r), state(r).layout)));
    }
    return allocate_devices();
  }

  // Lets an output take over the memory of an input that dies at the same node.
  void share_in_place(std::vector<int>& first, std::vector<int>& last) {
    for (size_t v = 0; v < plan_.root.size(); ++v)
      if (plan_.root[v] != static_cast<int>(v))
        members_[plan_.root[v]].push_back(static_cast<int>(v));
    for (int i : order_) {
      const Node& n = node(i);
      const Placed& p = placed(i);
      if (p.backend < 0 || on_device(p.backend) || !p.support.in_place) continue;
      const int out = n.outputs[0];
      for (int k = 0; k < n.own_inputs() && k < 32; ++k) {
        const int in = n.inputs[static_cast<size_t>(k)];
        if (!(p.support.in_place >> k & 1) || in < 0) continue;
        const int r = root(in);
        // Another view of the same memory may be read at other places than it is written, and a
        // post may read it after the node has written its result.
        bool viewed = false;
        for (int j = 0; j < static_cast<int>(n.inputs.size()); ++j) {
          const int v = n.inputs[static_cast<size_t>(j)];
          viewed |= v >= 0 && root(v) == r && (v != in || j >= n.own_inputs());
        }
        if (viewed || graph().value(r).is_constant() || root(out) != out ||
            last[static_cast<size_t>(r)] != node_position_[static_cast<size_t>(i)] ||
            !same_layout(state(in).layout, state(out).layout) ||
            storage_bytes(graph().type(in), state(in).layout) !=
                storage_bytes(graph().type(out), state(out).layout) ||
            storage_bytes(graph().type(r), state(r).layout) <
                storage_bytes(graph().type(out), state(out).layout))
          continue;
        last[static_cast<size_t>(r)] = last[static_cast<size_t>(out)];
        first[static_cast<size_t>(out)] = std::numeric_limits<int>::max();
        last[static_cast<size_t>(out)] = -1;
        auto& members = members_[out];  // views of the output, and results in place of it
        members.push_back(out);
        for (int other : members) plan_.root[static_cast<size_t>(other)] = r;
        members_[r].insert(members_[r].end(), members.begin(), members.end());
        break;
      }
    }
  }

  Status allocate_devices() {
    plan_.device.resize(backends_.size());
    plan_.device_table.resize(backends_.size());
    for (size_t b = 0; b < backends_.size(); ++b) {
      if (backends_[b]->host_memory()) continue;
      plan_.device[b].resize(graph().values.size());
      plan_.device_table[b].assign(graph().values.size(), nullptr);
    }
    const auto need = [&](int b, int v) -> Status {
      auto& buffer = plan_.device[static_cast<size_t>(b)][static_cast<size_t>(root(v))];
      if (!buffer) {
        const int64_t bytes = storage_bytes(graph().type(root(v)), state(root(v)).layout);
        FV_ASSIGN(buffer, DeviceBuffer::create(backends_[static_cast<size_t>(b)],
                                               static_cast<uint64_t>(std::max<int64_t>(bytes, 0))));
      }
      plan_.device_table[static_cast<size_t>(b)][static_cast<size_t>(v)] = buffer->get();
      return ok();
    };
    for (const Segment& s : plan_.segments) {
      if (!on_device(s.backend)) continue;
      for (const fv_node& view : s.view.nodes) {
        for (const fv_value& v : view.inputs)
          if (v.value && (v.flags & FV_VALUE_SEGMENT_INPUT)) FV_TRY(need(s.backend, v.slot));
        for (const fv_value& v : view.outputs)
          if (v.flags & FV_VALUE_SEGMENT_OUTPUT) FV_TRY(need(s.backend, v.slot));
      }
    }
    return ok();
  }

  Plan& plan_;
  const PlanRequest& request_;
  const Backends& backends_;
  std::vector<int> order_;
  std::set<int> aliases_;                    // nodes
  std::set<int> results_;                    // values that are graph outputs
  std::vector<std::set<int>> places_;        // by root value: where a current copy is
  std::map<int, std::vector<int>> members_;  // root -> the other values in its memory
  std::vector<int> node_position_, step_position_;
  int position_ = 0;
};

}  // namespace

Result<std::unique_ptr<Plan>> make_plan(const PlanRequest& request) {
  auto plan = std::make_unique<Plan>();
  Graph graph = request.model->graph;
  FV_TRY(infer_graph(graph, request.input_dims));
  FV_ASSIGN(plan->placed, place(std::move(graph), *request.backends, request.fuse));
  Planner planner(*plan, request);
  FV_TRY(planner.run());
  return plan;
}

}  // namespace foveal
