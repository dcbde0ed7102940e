// Loops over whole score tensors, compiled for speed. NaN is never the largest of anything.
#ifndef FOVEAL_IMGPROC_DECODE_SCAN_H_
#define FOVEAL_IMGPROC_DECODE_SCAN_H_

#include <cstdint>

namespace foveal::imgproc {

struct Best {
  float value;    // -INFINITY when nothing is larger
  int32_t index;  // the first that has the value
};

// Of n adjacent values.
Best best_of(const float* values, int64_t n);
// Column by column over `rows` rows of n values: values[n], rows_of[n].
void best_of_rows(const float* data, int64_t rows, int64_t n, float* values, int32_t* rows_of);

// out[i] = 1 where values[i] > threshold, else 0.
void above(const float* values, int64_t n, float threshold, uint8_t* out);
// out = a | b, element by element.
void unite(const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* out);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_DECODE_SCAN_H_
