// Loops of the separable filters: sums down source rows, planar lines, sums along them. Built once
// per instruction set like rows/kernels.h; they know nothing of frames or specs.
#ifndef FOVEAL_IMGPROC_ROWS_FILTER_H_
#define FOVEAL_IMGPROC_ROWS_FILTER_H_

#include <cstdint>

namespace foveal::imgproc {

inline constexpr int kTapPad = 8;  // taps along a line come in multiples of this, padded with zeros

// Taps of adjacent outputs along a line: output i reads line[first[i] - origin ...], `taps` long,
// weights + i * taps.
template <class Weight>
struct LineTaps {
  const int32_t* first;
  int32_t origin;
  const Weight* weights;
  int taps;
};

struct FilterKernels {
  // out[i] = sum over k < count of w[k] * base[k * stride + i], i < n; of bytes, uint16, floats.
  void (*sum_rows[3])(const uint8_t* base, int64_t stride, const float* w, int count, int n,
                      float* out);
  // lane[b][i] = in[i * pixel + b] for b < bytes; NULL lanes are skipped.
  void (*split)(const float* in, int pixel, int bytes, int n, float* const lane[3]);
  void (*sum_line)(const float* line, LineTaps<float> t, int n, float* out);
};

const FilterKernels& filter_kernels();  // for this machine

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_ROWS_FILTER_H_
