#include "common/posts.h"

namespace foveal::cpu {
inline namespace FV_ISA {

bool fuses_pointwise(const Node& node, const Node& post, int chain_input) {
  const Value y = node.output(0);
  if (!is_float(y) || !is_float(post.output(0)) || post.output(0).dims() != y.dims()) return false;
  if (node.posts() >= 16) return false;
  if (find_unary(post).fn) return true;
  if (!find_binary(post.op(), false, false) || post.inputs() != 2) return false;
  const Value other = post.input(1 - chain_input);
  if (!other || !is_float(other)) return false;
  return other.is_constant() ? other.rank() <= y.rank() : other.dims() == y.dims();
}

void allow_in_place(const Node& node, Support& s, int i) {
  const fv_value* x = node.input(i).handle();
  for (int k = 0; k < node.inputs(); ++k)
    if (k != i && node.input(k).handle() == x) return;
  for (int p = 0; p < node.posts(); ++p) {
    const fv_post post = node.post(p);
    const Node op(node.host(), post.node);
    for (int k = 0; k < op.inputs(); ++k)
      if (k != post.chain_input && op.input(k).handle() == x) return;
  }
  s.in_place(i);
}

Result<Posts> Posts::make(const Node& node, const Value& out, int skip) {
  Posts posts;
  if (is_blocked(out.layout())) {
    const ImageDims d(out);
    posts.pad_from_ = static_cast<int>(d.c % out.layout().block);
    posts.blocks_ = ceil_div(d.c, out.layout().block);
    posts.plane_ = physical_count(out) / std::max<int64_t>(1, d.n * posts.blocks_);
  }
  for (int i = skip; i < node.posts(); ++i) {
    const fv_post post = node.post(i);
    const Node op(node.host(), post.node);
    Step step;
    step.unary = find_unary(op);
    if (!step.unary.fn) {
      step.reversed = post.chain_input == 1;
      step.vector = find_binary(op.op(), false, false);
      step.pattern = find_binary(op.op(), step.reversed, !step.reversed);
      if (!step.vector) return unsupported(format("cannot fuse '%s'", op.op()));
      FV_ASSIGN(step.operand, Operand::make(op.input(1 - post.chain_input), out));
    }
    posts.steps_.push_back(std::move(step));
  }
  return posts;
}

void Posts::apply_steps(const Run& r, float* y, int64_t n, int64_t offset) const {
  alignas(64) float splat[kLanes];
  for (const Step& s : steps_) {
    if (s.unary.fn) {
      s.unary(y, y, n);
      continue;
    }
    const float* base = s.operand.base(r);
    for (int64_t i = 0; i < n;) {
      const Operand::Piece p = s.operand.piece(base, offset + i, splat);
      const int64_t m = std::min(p.n, n - i);
      const BinaryFn f = p.pattern ? s.pattern : s.vector;
      if (s.reversed)
        f(y + i, p.p, y + i, m);
      else
        f(y + i, y + i, p.p, m);
      i += m;
    }
  }
}

void Posts::zero_padding(float* y, int64_t n, int64_t offset) const {
  if (!pad_from_) return;
  const vi keep = lane_numbers() < pad_from_;
  for (int64_t i = 0; i < n;) {
    const int64_t plane = (offset + i) / plane_;
    const int64_t m = std::min(n - i, (plane + 1) * plane_ - offset - i);
    if (plane % blocks_ == blocks_ - 1)
      for (int64_t k = i; k < i + m; k += kLanes) store(y + k, from_bits(bits(load(y + k)) & keep));
    i += m;
  }
}

FusedTail FusedTail::find(const Node& node, const Value& out) {
  FusedTail tail;
  if (tail.posts < node.posts()) {
    const fv_post post = node.post(tail.posts);
    const Node op(node.host(), post.node);
    if (!std::strcmp(op.op(), "add")) {
      const Value other = op.input(1 - post.chain_input);
      if (!other.is_constant() && other.dims() == out.dims() &&
          same_layout(other.layout(), out.layout())) {
        tail.has_residual = true;
        tail.residual = Input(other);
        ++tail.posts;
      }
    }
  }
  if (tail.posts < node.posts()) {
    float low, high;
    // Limits that move zero would fill padding lanes: left to the general path.
    if (find_clamp(node.post_node(tail.posts), low, high) && low <= 0 && high >= 0) {
      tail.low = low;
      tail.high = high;
      ++tail.posts;
    }
  }
  return tail;
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
