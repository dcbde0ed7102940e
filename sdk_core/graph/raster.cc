#include "graph/raster.h"

#include <algorithm>

namespace foveal {
namespace {

using ops::Raster;
using ops::Region;

// A mixed-radix number system for the addresses of one tensor: falling strides, each a multiple
// of the next, the last 1. Address = sum of digit[i] * stride[i].
class Basis {
 public:
  // False if the strides do not divide one another.
  bool build(Ints strides) {
    for (int64_t& s : strides) s = s < 0 ? -s : s;
    strides.push_back(1);
    std::sort(strides.rbegin(), strides.rend());
    strides.erase(std::unique(strides.begin(), strides.end()), strides.end());
    for (size_t i = 1; i < strides.size(); ++i)
      if (strides[i - 1] % strides[i]) return false;
    strides_ = std::move(strides);
    return true;
  }
  size_t size() const { return strides_.size(); }
  int64_t stride(size_t i) const { return strides_[i]; }
  // Digits of position i, unlimited for the first.
  int64_t radix(size_t i) const { return i ? strides_[i - 1] / strides_[i] : INT64_MAX; }
  size_t position(int64_t stride) const {
    return static_cast<size_t>(std::find(strides_.begin(), strides_.end(), stride) -
                               strides_.begin());
  }

 private:
  Ints strides_;
};

// A walk seen in the digits of a basis: digit i covers [start[i], start[i] + count[i]), each step
// moving the other side of the copy by pace[i]. Free dimensions do not move in this tensor.
struct Box {
  Ints start, count, pace;
  Ints free_count, free_pace;
  int64_t other_offset = 0;
};

// `near` strides belong to the tensor of the basis, `far` ones to the other side of the copy.
bool to_box(const Basis& basis, int64_t near_offset, int64_t far_offset, const Ints& size,
            const Ints& near_stride, const Ints& far_stride, Box& box) {
  struct Dim {
    int64_t count, near, far;
  };
  std::vector<Dim> dims;
  for (size_t i = 0; i < size.size(); ++i) {
    if (size[i] == 1) continue;
    Dim d{size[i], near_stride[i], far_stride[i]};
    if (d.near == 0) {
      box.free_count.push_back(d.count);
      box.free_pace.push_back(d.far);
      continue;
    }
    if (d.near < 0) {  // walk it from the other end
      near_offset += d.near * (d.count - 1);
      far_offset += d.far * (d.count - 1);
      d.near = -d.near, d.far = -d.far;
    }
    dims.push_back(d);
  }
  const size_t n = basis.size();
  box.start.assign(n, 0), box.count.assign(n, 1), box.pace.assign(n, 0);
  box.other_offset = far_offset;
  for (size_t i = 0; i < n; ++i) {
    box.start[i] = near_offset / basis.stride(i);
    near_offset %= basis.stride(i);
  }
  std::vector<bool> used(n);
  while (!dims.empty()) {
    Dim d = dims.back();
    dims.pop_back();
    const size_t at = basis.position(d.near);
    if (at >= n || used[at]) return false;
    used[at] = true;
    const int64_t radix = basis.radix(at);
    if (box.start[at] + d.count > radix) {  // spills into the next digit: split there
      if (box.start[at] != 0 || d.count % radix) return false;
      dims.push_back({d.count / radix, d.near * radix, d.far * radix});
      d.count = radix;
    }
    box.count[at] = d.count;
    box.pace[at] = d.far;
  }
  return true;
}

// What both boxes cover, as a copy from the inner raster's source to the outer one's result.
// False when they are disjoint.
bool intersect(const Box& outer, const Box& inner, Region& r) {
  r.src_offset = inner.other_offset;
  r.dst_offset = outer.other_offset;
  for (size_t i = 0; i < outer.start.size(); ++i) {
    const int64_t low = std::max(outer.start[i], inner.start[i]);
    const int64_t high = std::min(outer.start[i] + outer.count[i], inner.start[i] + inner.count[i]);
    if (low >= high) return false;
    r.src_offset += (low - inner.start[i]) * inner.pace[i];
    r.dst_offset += (low - outer.start[i]) * outer.pace[i];
    r.size.push_back(high - low);
    r.src_stride.push_back(inner.pace[i]);
    r.dst_stride.push_back(outer.pace[i]);
  }
  for (size_t i = 0; i < outer.free_count.size(); ++i) {
    r.size.push_back(outer.free_count[i]);
    r.src_stride.push_back(0);
    r.dst_stride.push_back(outer.free_pace[i]);
  }
  return true;
}

bool is_view(const Node& n) {
  const OpDef* def = op_table().find(n.op);
  return def && (def->traits & kView) && n.posts.empty();
}
bool is_raster(const Node& n) { return n.op == "raster" && n.posts.empty(); }

Raster read_raster(const Node& n) {
  Raster r;
  AttrReader reader{n.attrs};
  r.fields(reader);
  return r;
}

}  // namespace

bool compose(Raster& outer, int input, const Raster& inner, int outer_inputs, int64_t elements) {
  const std::vector<Region> sources = inner.all();
  std::vector<Region> kept, readers;
  for (Region& r : outer.all()) (r.input == input ? readers : kept).push_back(std::move(r));

  Ints strides;
  auto collect = [&](const Ints& size, const Ints& stride) {
    for (size_t i = 0; i < size.size(); ++i)
      if (size[i] != 1 && stride[i] != 0) strides.push_back(stride[i]);
  };
  for (const Region& r : sources) collect(r.size, r.dst_stride);
  for (const Region& r : readers) collect(r.size, r.src_stride);
  Basis basis;
  if (elements < 1 || !basis.build(std::move(strides))) return false;

  std::vector<Box> boxes(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    const Region& r = sources[i];
    if (!to_box(basis, r.dst_offset, r.src_offset, r.size, r.dst_stride, r.src_stride, boxes[i]) ||
        !boxes[i].free_count.empty())
      return false;
  }
  const size_t limit = std::max<size_t>(32, 2 * (sources.size() + readers.size()));
  bool holes = false;  // something reads what `inner` only filled
  std::vector<Region> result = std::move(kept);
  for (const Region& r : readers) {
    Box box;
    if (!to_box(basis, r.src_offset, r.dst_offset, r.size, r.src_stride, r.dst_stride, box))
      return false;
    int64_t covered = 0;
    for (size_t i = 0; i < boxes.size(); ++i) {
      Region copy;
      if (!intersect(box, boxes[i], copy)) continue;
      copy.input = outer_inputs + sources[i].input;
      covered += copy.count();
      ops::normalise(copy);
      if (copy.size.size() > ops::kMaxRegionRank) return false;
      result.push_back(std::move(copy));
      if (result.size() > limit) return false;
    }
    holes = holes || covered != r.count();
  }
  if (holes && outer.fill != inner.fill) {
    if (!outer.covers()) return false;
    outer.fill = inner.fill;
  }
  outer.set(result);
  return true;
}

namespace {

class Simplifier {
 public:
  explicit Simplifier(Graph& g) : g_(g), producers_(g.producers()), uses_(g.use_counts()) {}

  void run() {
    for (Node& n : g_.nodes) {
      if (is_view(n)) simplify_view(n);
      if (is_raster(n)) simplify_raster(n);
    }
    g_.remove_dead();
  }

 private:
  Node* producer(int v) {
    const int p = v < 0 ? -1 : producers_[static_cast<size_t>(v)];
    return p < 0 ? nullptr : &g_.nodes[static_cast<size_t>(p)];
  }
  void change_uses(int v, int by) { uses_[static_cast<size_t>(v)] += by; }
  bool has_zero(int v) const { return element_count(g_.type(v).dims) == 0; }

  void simplify_view(Node& n) {
    if (has_zero(n.outputs[0])) return;  // reshape to 0 means "copy the dimension"
    while (Node* p = producer(n.inputs[0])) {
      if (!is_view(*p)) break;
      change_uses(n.inputs[0], -1);
      n.inputs[0] = p->inputs[0];
      change_uses(n.inputs[0], +1);
      n.op = "reshape";
      n.version = 1;
      n.attrs = {{"shape", Ints(g_.type(n.outputs[0]).dims)}};
    }
    Node* p = producer(n.inputs[0]);
    if (!p || !is_raster(*p) || uses_[static_cast<size_t>(n.inputs[0])] != 1) return;
    Raster r = read_raster(*p);
    r.shape = g_.type(n.outputs[0]).dims;
    n.op = "raster";
    n.version = p->version;
    n.attrs = r.attrs();
    change_uses(n.inputs[0], -1);
    n.inputs = p->inputs;
    for (int v : n.inputs) change_uses(v, +1);
    // The producer is dead now; its reads must not keep others from merging.
    for (int v : p->inputs) change_uses(v, -1);
  }

  void simplify_raster(Node& n) {
    Raster r = read_raster(n);
    bool changed = false;
    for (bool again = true; again;) {
      again = false;
      for (size_t i = 0; i < n.inputs.size() && !again; ++i) again = read_through(n, r, i);
      changed = changed || again;
    }
    if (changed) n.attrs = r.attrs();
    const std::vector<Region> all = r.all();
    const int64_t total = element_count(r.shape);
    if (n.inputs.size() != 1 || all.size() != 1 || total < 1) return;
    Region only = all[0];
    ops::normalise(only);
    if (only.src_offset || only.dst_offset || only.size != Ints{total} ||
        (total > 1 && (only.src_stride[0] != 1 || only.dst_stride[0] != 1)) ||
        element_count(g_.type(n.inputs[0]).dims) != total)
      return;
    n.op = "reshape";
    n.version = 1;
    n.attrs = {{"shape", r.shape}};
    simplify_view(n);
  }

  // Replaces input i by what its producer reads, if that is possible.
  bool read_through(Node& n, Raster& r, size_t i) {
    const int v = n.inputs[i];
    Node* p = producer(v);
    if (!p) return false;
    if (is_view(*p)) {
      change_uses(v, -1);
      n.inputs[i] = p->inputs[0];
      change_uses(n.inputs[i], +1);
      drop_unused(n, r);
      return true;
    }
    if (!is_raster(*p) || uses_[static_cast<size_t>(v)] != 1 || p->inputs.empty()) return false;
    const Raster inner = read_raster(*p);
    if (!compose(r, static_cast<int>(i), inner, static_cast<int>(n.inputs.size()),
                 element_count(g_.type(v).dims)))
      return false;
    // p dies: its reads become ours.
    n.inputs.insert(n.inputs.end(), p->inputs.begin(), p->inputs.end());
    drop_unused(n, r);
    return true;
  }

  // Merges repeated inputs and removes those no region reads, but never the last one.
  void drop_unused(Node& n, Raster& r) {
    std::vector<Region> list = r.all();
    std::vector<int> inputs;
    std::vector<int64_t> map(n.inputs.size(), -1);
    for (const Region& region : list) {
      const auto old = static_cast<size_t>(region.input);
      const auto found = std::find(inputs.begin(), inputs.end(), n.inputs[old]);
      map[old] = found - inputs.begin();
      if (found == inputs.end()) inputs.push_back(n.inputs[old]);
    }
    if (inputs.empty()) inputs.push_back(n.inputs.back());
    for (Region& region : list) region.input = map[static_cast<size_t>(region.input)];
    for (int v : n.inputs) change_uses(v, -1);
    for (int v : inputs) change_uses(v, +1);
    n.inputs = std::move(inputs);
    r.set(list);
  }

  Graph& g_;
  std::vector<int> producers_;
  std::vector<int> uses_;
};

}  // namespace

void simplify_rasters(Graph& graph) { Simplifier(graph).run(); }

}  // namespace foveal
