// The data movement primitive on elements of 1, 2, 4 or 8 bytes.
#include "ops/raster.h"

#include <cmath>

#include "common/cpu.h"

namespace foveal::cpu {
namespace {

// The two innermost loops of a region; outer ones are decoded per task.
struct Copy {
  Input src;
  int64_t src_offset, dst_offset;
  Dims size, src_stride, dst_stride;  // outer dimensions
  int64_t rows, cols, src_row, src_col, dst_row, dst_col;
  int64_t outer;
};

template <class T>
void copy_rows(T* dst, const T* src, const Copy& c, int64_t rows) {
  if (c.dst_col == 1 && c.src_col == 1) {
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(dst + i * c.dst_row, src + i * c.src_row,
                  static_cast<size_t>(c.cols) * sizeof(T));
  } else if (c.dst_col == 1 && c.src_row == 1) {
    // A transpose: squares, so that lines of both sides stay in cache.
    constexpr int64_t kSquare = 64 / sizeof(T) < 8 ? 8 : 64 / sizeof(T);
    for (int64_t i0 = 0; i0 < rows; i0 += kSquare)
      for (int64_t j0 = 0; j0 < c.cols; j0 += kSquare) {
        const int64_t i1 = std::min(i0 + kSquare, rows), j1 = std::min(j0 + kSquare, c.cols);
        for (int64_t i = i0; i < i1; ++i)
          for (int64_t j = j0; j < j1; ++j) dst[i * c.dst_row + j] = src[i + j * c.src_col];
      }
  } else if (c.dst_col == 1 && c.src_col == 0) {
    for (int64_t i = 0; i < rows; ++i) std::fill_n(dst + i * c.dst_row, c.cols, src[i * c.src_row]);
  } else {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < c.cols; ++j)
        dst[i * c.dst_row + j * c.dst_col] = src[i * c.src_row + j * c.src_col];
  }
}

struct RasterKernel : Kernel {
  std::vector<Copy> copies;
  int y = -1, threads = 1;
  size_t element = 4;
  int64_t count = 0;
  bool fill = false;
  uint64_t fill_bits = 0;

  template <class T>
  void walk(const Run& r) const {
    T* dst = r.ptr<T>(y);
    if (fill) std::fill_n(dst, count, static_cast<T>(fill_bits));
    for (const Copy& c : copies) {
      const T* src = c.src.ptr<T>(r);
      // Pieces of at most 64 rows of one outer index.
      const int64_t piece = std::min<int64_t>(c.rows, 64), pieces = ceil_div(c.rows, piece);
      const int64_t items = c.outer * pieces;
      const int64_t tasks = task_count(items, static_cast<double>(piece * c.cols) / 8 + 2, threads);
      r.parallel_for(tasks, [&](int64_t task, int) {
        const Range range = slice_of(items, task, tasks);
        for (int64_t i = range.begin; i < range.end; ++i) {
          int64_t rest = i / pieces, row = i % pieces * piece;
          int64_t from = c.src_offset + row * c.src_row, to = c.dst_offset + row * c.dst_row;
          for (size_t d = c.size.size(); d-- > 0; rest /= c.size[d]) {
            from += rest % c.size[d] * c.src_stride[d];
            to += rest % c.size[d] * c.dst_stride[d];
          }
          copy_rows(dst + to, src + from, c, std::min(piece, c.rows - row));
        }
      });
    }
  }
  Status run(const Run& r) override {
    element == 1   ? walk<uint8_t>(r)
    : element == 2 ? walk<uint16_t>(r)
    : element == 4 ? walk<uint32_t>(r)
                   : walk<uint64_t>(r);
    return ok();
  }
};

template <class T>
uint64_t bits_of(T v) {
  uint64_t b = 0;
  std::memcpy(&b, &v, sizeof(v));
  return b;
}
// The fill value as an element; false for types without a conversion here.
bool fill_bits(fv_dtype t, double v, uint64_t& bits) {
  bits = 0;
  if (v == 0 && !std::signbit(v)) return true;
  // Casts from double are defined only inside the target's range.
  auto integer = [&](double lo, double hi) {
    return static_cast<int64_t>(std::min(std::max(v, lo), hi));
  };
  switch (t) {
    case FV_FLOAT32:
      bits = bits_of(static_cast<float>(v));
      return true;
    case FV_FLOAT64:
      bits = bits_of(v);
      return true;
    case FV_INT8:
      bits = bits_of(static_cast<int8_t>(integer(-128, 127)));
      return true;
    case FV_UINT8:
      bits = bits_of(static_cast<uint8_t>(integer(0, 255)));
      return true;
    case FV_INT16:
      bits = bits_of(static_cast<int16_t>(integer(-32768, 32767)));
      return true;
    case FV_UINT16:
      bits = bits_of(static_cast<uint16_t>(integer(0, 65535)));
      return true;
    case FV_INT32:
      bits = bits_of(static_cast<int32_t>(integer(-2147483648.0, 2147483647.0)));
      return true;
    case FV_UINT32:
      bits = bits_of(static_cast<uint32_t>(integer(0, 4294967295.0)));
      return true;
    case FV_INT64:
    case FV_UINT64:
      bits = bits_of(integer(-9.2e18, 9.2e18));
      return true;
    case FV_BOOL:
      bits = v != 0;
      return true;
    default:
      return false;
  }
}

void supports(const Node& node, Support& s) {
  const auto op = node.attrs<ops::Raster>();
  uint64_t bits;
  if (!op.covers() && !fill_bits(node.output(0).dtype(), op.fill, bits))
    return s.no(format("cannot fill %s", dtype_name(node.output(0).dtype())));
  s.yes();
}

MadeKernel make(const Context& c, const Node& node) {
  auto k = std::make_unique<RasterKernel>();
  const auto op = node.attrs<ops::Raster>();
  const Value y = node.output(0);
  k->y = y.slot();
  k->threads = c.threads();
  k->element = dtype_size(y.dtype());
  k->count = y.count();
  k->fill = !op.covers();
  if (k->fill && !fill_bits(y.dtype(), op.fill, k->fill_bits))
    return unsupported(format("cannot fill %s", dtype_name(y.dtype())));
  for (ops::Region& region : op.all()) {
    if (region.count() == 0) continue;
    ops::normalise(region);
    Copy copy{Input(node.input(static_cast<int>(region.input))),
              region.src_offset,
              region.dst_offset,
              {},
              {},
              {},
              1,
              1,
              0,
              0,
              0,
              0,
              1};
    // Innermost: the last dimension; next to it the one along which the source is dense, if any,
    // so that transposes are seen as such.
    const size_t rank = region.size.size();
    size_t row = rank >= 2 ? rank - 2 : rank;
    for (size_t i = 0; i + 1 < rank; ++i)
      if (region.src_stride[i] == 1) row = i;
    copy.cols = region.size[rank - 1];
    copy.src_col = region.src_stride[rank - 1];
    copy.dst_col = region.dst_stride[rank - 1];
    for (size_t i = 0; i + 1 < rank; ++i) {
      if (i == row) {
        copy.rows = region.size[i];
        copy.src_row = region.src_stride[i];
        copy.dst_row = region.dst_stride[i];
      } else {
        copy.size.push_back(region.size[i]);
        copy.src_stride.push_back(region.src_stride[i]);
        copy.dst_stride.push_back(region.dst_stride[i]);
        copy.outer *= region.size[i];
      }
    }
    k->copies.push_back(std::move(copy));
  }
  return made(std::move(k));
}

}  // namespace

void define_raster(Kernels& k) { FV_KERNEL(k, "raster", supports, make, nullptr); }

}  // namespace foveal::cpu
