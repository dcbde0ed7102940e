#include "common/operand.h"

namespace foveal::cpu {
inline namespace FV_ISA {

Dims physical_dims(const Dims& logical, fv_layout layout) {
  Dims d = logical;
  if (is_blocked(layout)) {
    d[1] = ceil_div(d[1], layout.block);
    d.push_back(layout.block);
  }
  return d;
}

int64_t physical_count(const Value& v) {
  return element_count(physical_dims(v.dims(), v.layout()));
}

namespace {

// A plain constant of `dims` (rank of the output) in NCxHWx.
std::shared_ptr<Floats64> block_constant(const float* src, const Dims& dims, int x) {
  const int64_t blocks = ceil_div(dims[1], x);
  int64_t inner = 1;
  for (size_t i = 2; i < dims.size(); ++i) inner *= dims[i];
  auto out = std::make_shared<Floats64>(static_cast<size_t>(dims[0] * blocks * inner * x));
  if (!out->data()) return nullptr;
  for (int64_t n = 0; n < dims[0]; ++n)
    for (int64_t c = 0; c < dims[1]; ++c)
      for (int64_t i = 0; i < inner; ++i)
        out->data()[((n * blocks + c / x) * inner + i) * x + c % x] =
            src[(n * dims[1] + c) * inner + i];
  return out;
}

}  // namespace

Result<Operand> Operand::make(const Value& v, const Value& out) {
  Operand o;
  o.input_ = Input(v);
  const Dims shape = out.dims();
  const bool blocked_out = is_blocked(out.layout());
  const int rank = out.rank(), missing = rank - v.rank();
  const bool scalar = v.count() == 1;
  Dims dims(shape.size(), 1);
  for (int i = std::max(missing, 0); i < rank; ++i)
    dims[static_cast<size_t>(i)] = v.dim(i - missing);
  if (missing < 0 ||
      (blocked_out && !scalar && !v.is_constant() &&
       (missing > 0 || !same_layout(v.layout(), out.layout()))) ||
      (!blocked_out && !scalar && is_blocked(v.layout())))
    return Status(FV_INTERNAL, "operand is " + to_string(v.layout()) + to_string(v.dims()) +
                                   ", output is " + to_string(out.layout()) + to_string(shape));
  if (blocked_out && v.is_constant() && !scalar) {
    o.owned_ = block_constant(v.constant<float>(), dims, out.layout().block);
    if (!o.owned_) return no_memory();
  }
  // Strides over the output's memory order; 0 where the operand repeats.
  const Dims osize = physical_dims(shape, out.layout());
  Dims vsize = blocked_out ? physical_dims(dims, out.layout()) : dims;
  Dims vstride(vsize.size());
  int64_t s = 1;
  for (size_t i = vsize.size(); i-- > 0; s *= vsize[i]) vstride[i] = vsize[i] == 1 ? 0 : s;
  if (blocked_out && dims[1] == 1 && shape[1] > 1) vstride.back() = 0;
  if (scalar) std::fill(vstride.begin(), vstride.end(), 0);

  // Join dimensions that are one run for both.
  Dims size, stride;
  for (size_t i = 0; i < osize.size(); ++i) {
    if (osize[i] == 1) continue;
    if (!size.empty() && stride.back() == vstride[i] * osize[i]) {
      size.back() *= osize[i];
      stride.back() = vstride[i];
    } else {
      size.push_back(osize[i]);
      stride.push_back(vstride[i]);
    }
  }
  if (size.empty()) size = {1}, stride = {1};
  o.total_ = element_count(osize);
  const size_t r = size.size();
  const bool outer_zero = r < 2 || stride[0] == 0;
  if (stride[r - 1] == 1 && (r == 1 || (r == 2 && outer_zero))) {
    o.kind_ = kRow;
    o.period_ = size[r - 1];
  } else if (stride[r - 1] == 0 &&
             (r == 1 || (r == 2 && stride[0] == 1) || (r == 3 && outer_zero && stride[1] == 1))) {
    o.kind_ = kPattern;
    o.inner_ = size[r - 1];
    o.count_ = r == 1 ? 1 : size[r - 2];
  } else if (blocked_out && size[r - 1] == kLanes && stride[r - 1] == 1 && r >= 3 &&
             stride[r - 2] == 0 && stride[r - 3] == kLanes && (r == 3 || (r == 4 && outer_zero))) {
    o.kind_ = kPattern;
    o.lanes_ = true;
    o.inner_ = size[r - 2] * kLanes;
    o.count_ = size[r - 3];
  } else {
    o.kind_ = kStrided;
    o.size_ = size;
    o.stride_ = stride;
  }
  // One block of channels under all pixels: a row of kLanes is a pattern, too.
  if (o.kind_ == kRow && o.period_ == kLanes && o.total_ > kLanes) {
    o.kind_ = kPattern;
    o.lanes_ = true;
    o.inner_ = o.total_;
    o.count_ = 1;
  }
  return o;
}

Operand::Piece Operand::piece(const float* base, int64_t offset, float* splat) const {
  const auto fill = [splat](float x) {
    store(splat, simd::splat(x));
    return splat;
  };
  switch (kind_) {
    case kRow: {
      const int64_t at = period_ == total_ ? offset : offset % period_;
      return {base + at, false, period_ - at};
    }
    case kPattern: {
      const int64_t i = offset / inner_, n = inner_ - offset % inner_;
      const int64_t at = i % count_;
      if (lanes_) {
        const int64_t lane = offset % kLanes;
        if (lane) return {base + at * kLanes + lane, false, kLanes - lane};
        return {base + at * kLanes, true, n};
      }
      return {fill(base[at]), true, n};
    }
    case kStrided:
      break;
  }
  int64_t at = 0, rest = offset, last = 0;
  for (size_t i = size_.size(); i-- > 0;) {
    const int64_t k = rest % size_[i];
    rest /= size_[i];
    at += k * stride_[i];
    if (i + 1 == size_.size()) last = k;
  }
  const int64_t n = size_.back() - last;
  if (stride_.back() == 1) return {base + at, false, n};
  return {fill(base[at]), true, n};
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
