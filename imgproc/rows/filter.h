// Loops of the separable filters: sums down source rows, planar lines, sums along them. Built once
// per instruction set like rows/kernels.h; they know nothing of frames or specs.
#ifndef FOVEAL_IMGPROC_ROWS_FILTER_H_
#define FOVEAL_IMGPROC_ROWS_FILTER_H_

#include <cstdint>

namespace foveal::imgproc {

inline constexpr int kTapPad = 16;  // most zeros behind the taps of an output

// Taps of an output, padded with zeros: 8, or a multiple of 16.
constexpr int padded_taps(int count) { return count <= 8 ? 8 : (count + 15) / 16 * 16; }

// Taps of adjacent outputs along a line: output i reads line[first[i] - origin ...], `taps` long,
// weights + i * taps.
template <class Weight>
struct LineTaps {
  const int32_t* first;
  int32_t origin;
  const Weight* weights;
  int taps;
};

// Rows to sum: `count` of them, `stride` elements apart; weights[count] may be read as well.
template <class Weight>
struct RowTaps {
  const uint8_t* base;
  int64_t stride;
  const Weight* weights;
  int count;
};

// Rows that the next sum needs and this one does not, brought into the cache while this one is
// worked on: line after line of one row, then of the next, as memory answers fastest. A sum of n
// columns reads `rows` times n bytes ahead.
struct ReadAhead {
  const uint8_t* at;
  const uint8_t* end;  // of the row that `at` lies in
  int64_t gap;         // from the end of a row to the next one
  int64_t row_bytes;
  int rows;

  void advance(int columns) {
    for (int64_t left = int64_t{columns} * rows; left > 0;) {
      if (at >= end) {
        at += gap;
        end += gap + row_bytes;
      }
      const uint8_t* stop = at + left < end ? at + left : end;
      left -= stop - at;
      for (; at < stop; at += 64) __builtin_prefetch(at);
    }
  }
};

struct FilterKernels {
  // out[i] = sum over k < t.count of t.weights[k] * t.base[k * t.stride + i], i < n; of bytes,
  // uint16, floats (as value() takes them).
  void (*sum_rows[3])(const RowTaps<float>& t, int n, float* out);
  // lane[b][i] = in[i * pixel + b] for b < span; NULL lanes are skipped.
  void (*split)(const float* in, int pixel, int span, int n, float* const lane[3]);
  void (*sum_line)(const float* line, const LineTaps<float>& t, int n, float* out);
};

// The same of bytes in whole numbers, equal on every instruction set. Weights are negated; the
// caller keeps every sum, partial ones included, within 32 bits.
struct FixedFilterKernels {
  // out[i] = minus the sum, over 2^shift, rounded half up; it fits 16 bits. shift > 0.
  void (*sum_rows)(const RowTaps<int16_t>& t, ReadAhead next, int shift, int n, int16_t* out);
  // The same of two sums over rows of one plane, of which those of t[1] do not begin earlier.
  void (*sum_two)(const RowTaps<int16_t> t[2], ReadAhead next, int shift, int n,
                  int16_t* const out[2]);
  void (*split)(const int16_t* in, int pixel, int span, int n, int16_t* const lane[3]);
  // out[i] = minus the sum, times `unit`. t.taps are padded_taps.
  void (*sum_line)(const int16_t* line, const LineTaps<int16_t>& t, float unit, int n, float* out);
};

const FilterKernels& filter_kernels();  // for this machine
const FixedFilterKernels& fixed_filter_kernels();

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_ROWS_FILTER_H_
