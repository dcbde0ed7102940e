#include "common/block_copy.h"

namespace foveal::cpu {
inline namespace FV_ISA {

void BlockCopy::add(const Box& box, const ImageDims& src, const ImageDims& dst) {
  blocks_.resize(static_cast<size_t>(ceil_div(dst.c, kLanes)));
  plane_ = dst.pixels() * kLanes;
  if (box.height <= 0 || box.width <= 0) return;
  const bool whole_rows = box.width == src.w && box.width == dst.w;
  for (int64_t c = 0; c < box.channels;) {
    const int64_t from = box.src_c + c, to = box.dst_c + c;
    const int64_t n = std::min({kLanes - from % kLanes, kLanes - to % kLanes, box.channels - c});
    Piece p;
    p.source = box.source;
    p.shift = static_cast<int>(to % kLanes - from % kLanes);
    p.first = static_cast<int>(to % kLanes);
    p.last = p.first + static_cast<int>(n);
    // The last channels bring the zeros behind them along.
    if (to + n == dst.c && from + n == src.c && p.shift == 0 && p.first == 0) p.last = kLanes;
    p.src = (from / kLanes * src.pixels() + box.src_y * src.w + box.src_x) * kLanes;
    p.src_image = ceil_div(src.c, kLanes) * src.pixels() * kLanes;
    p.src_row = src.w * kLanes;
    p.dst_in_block = (box.dst_y * dst.w + box.dst_x) * kLanes;
    p.dst_row = dst.w * kLanes;
    p.rows = whole_rows ? 1 : box.height;
    p.pixels = whole_rows ? box.height * box.width : box.width;
    blocks_[static_cast<size_t>(to / kLanes)].pieces.push_back(p);
    c += n;
  }
}

// `first`: nothing of this window has been written yet, so the other lanes become zero.
void BlockCopy::copy(const Piece& p, const float* src, float* dst, bool first) {
  const bool whole = p.first == 0 && p.last == kLanes && p.shift == 0;
  const vi lane = lane_numbers();
  const vi keep = (lane >= p.first) & (lane < p.last);
  const vi index = (lane - p.shift) & (kLanes - 1);
  for (int64_t y = 0; y < p.rows; ++y, src += p.src_row, dst += p.dst_row) {
    if (whole) {
      std::memcpy(dst, src, static_cast<size_t>(p.pixels * kLanes) * 4);
      continue;
    }
    for (int64_t x = 0; x < p.pixels; ++x) {
      vf v = load(src + x * kLanes);
      if (p.shift) v = permute(v, index);
      const vf other = first ? vf{} : load(dst + x * kLanes);
      store(dst + x * kLanes, v_select(keep, v, other));
    }
  }
}

void BlockCopy::run(const Run& r, const float* const* sources, float* dst) const {
  const auto blocks = static_cast<int64_t>(blocks_.size());
  const int64_t items = images * blocks;
  const int64_t tasks = task_count(items, static_cast<double>(plane_) / kLanes, threads);
  r.parallel_for(tasks, [&](int64_t task, int) {
    const Range range = slice_of(items, task, tasks);
    for (int64_t i = range.begin; i < range.end; ++i) {
      float* block = dst + i * plane_;
      if (clear) std::memset(block, 0, static_cast<size_t>(plane_) * 4);
      bool first = !clear;
      for (const Piece& p : blocks_[static_cast<size_t>(i % blocks)].pieces) {
        copy(p, sources[p.source] + i / blocks * p.src_image + p.src, block + p.dst_in_block,
             first);
        first = false;
      }
    }
  });
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
