// concat and split of image tensors, in whatever layout they are. Other tensors take the raster.
#include "ops/concat.h"

#include "common/block_copy.h"
#include "common/operand.h"
#include "ops/split.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

// Runs of a plain tensor, or of a blocked one along an axis other than the channels.
struct Part {
  int64_t floats, offset;  // per outer index; within the whole
};

struct Join : Kernel {
  bool split = false, channels = false;
  std::vector<Input> in;
  std::vector<int> out;
  int threads = 1;
  int64_t outer = 1, whole = 0;  // floats per outer index of the joined tensor
  std::vector<Part> parts;
  std::vector<BlockCopy> copies;  // channels: one per output

  Status run(const Run& r) override {
    if (channels) {
      const float* sources[64];
      for (size_t i = 0; i < in.size(); ++i) sources[i] = in[i].ptr<float>(r);
      for (size_t i = 0; i < copies.size(); ++i) copies[i].run(r, sources, r.ptr<float>(out[i]));
      return ok();
    }
    const int64_t items = outer * static_cast<int64_t>(parts.size());
    const int64_t tasks = task_count(
        items, static_cast<double>(whole) / static_cast<double>(parts.size()) / kLanes + 1,
        threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(items, task, tasks);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const auto k = static_cast<size_t>(i % static_cast<int64_t>(parts.size()));
        const int64_t o = i / static_cast<int64_t>(parts.size());
        const int64_t joined = o * whole + parts[k].offset, single = o * parts[k].floats;
        const float* src = split ? in[0].ptr<float>(r) + joined : in[k].ptr<float>(r) + single;
        float* dst = split ? r.ptr<float>(out[k]) + single : r.ptr<float>(out[0]) + joined;
        std::memcpy(dst, src, static_cast<size_t>(parts[k].floats) * 4);
      }
    });
    return ok();
  }
};

void supports(const Node& node, Support& s) {
  const Value x = node.input(0);
  if (!is_float(x) || x.rank() != 4)
    return s.no("only float32 images; others are lowered to raster");
  if (std::max(node.inputs(), node.outputs()) > 64) return s.no("more than 64 parts");
  for (int i = 0; i < node.inputs(); ++i)
    if (node.input(i).is_constant()) return s.no("constant parts are lowered to raster");
  s.yes(kAny, kAny);
}

MadeKernel make(const Context& c, const Node& node) {
  auto k = std::make_unique<Join>();
  k->split = !std::strcmp(node.op(), "split");
  k->threads = c.threads();
  const Value joined = k->split ? node.input(0) : node.output(0);
  const int count = k->split ? node.outputs() : node.inputs();
  auto part = [&](int i) { return k->split ? node.output(i) : node.input(i); };
  for (int i = 0; i < node.inputs(); ++i) k->in.push_back(Input(node.input(i)));
  for (int i = 0; i < node.outputs(); ++i) k->out.push_back(node.output(i).slot());
  for (int i = 0; i < count; ++i)
    if (!same_layout(part(i).layout(), joined.layout()))
      return Status(FV_INTERNAL, "parts have different layouts");
  FV_ASSIGN(const int axis,
            resolve_axis(k->split ? node.attrs<ops::Split>().axis : node.attrs<ops::Concat>().axis,
                         joined.rank()));
  const bool blocked_tensors = is_blocked(joined.layout());
  if (blocked_tensors && axis == 1) {
    k->channels = true;
    const ImageDims whole(joined);
    int64_t at = 0;
    for (int i = 0; i < count; ++i) {
      const ImageDims d(part(i));
      Box box{k->split ? 0 : i, d.c, d.h, d.w, k->split ? at : 0, 0, 0, k->split ? 0 : at, 0, 0};
      if (k->split || i == 0) k->copies.emplace_back();
      k->copies.back().images = d.n;
      k->copies.back().threads = k->threads;
      k->copies.back().add(box, k->split ? whole : d, k->split ? d : whole);
      at += d.c;
    }
    return made(std::move(k));
  }
  const Dims dims = physical_dims(joined.dims(), joined.layout());
  const auto a = static_cast<size_t>(axis);
  int64_t inner = 1;
  for (size_t i = 0; i < a; ++i) k->outer *= dims[i];
  for (size_t i = a + 1; i < dims.size(); ++i) inner *= dims[i];
  k->whole = dims[a] * inner;
  int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t n = physical_dims(part(i).dims(), joined.layout())[a] * inner;
    k->parts.push_back({n, at});
    at += n;
  }
  return made(std::move(k));
}

}  // namespace

void define_concat(Kernels& k) {
  FV_KERNEL(k, "concat", supports, make, nullptr);
  FV_KERNEL(k, "split", supports, make, nullptr);
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
