// Row kernels of the cv2 profiles. What they compute does not depend on the instruction set: whole
// numbers, and floats whose every operation is rounded by itself (built without contraction).
//
// A tap row holds one pixel per word, a component per byte; bytes that are no component hold
// anything.
#ifndef FOVEAL_IMGPROC_ROWS_CV2_H_
#define FOVEAL_IMGPROC_ROWS_CV2_H_

#include <cstdint>

#include "imgproc/rows/kernels.h"

namespace foveal::imgproc {

// Positions of a chunk along one axis: indices of the two taps, inside the picture, the weight of
// the second (a float below 1), and all ones where the taps were inside before they were moved.
struct AxisTaps {
  int32_t i0[kChunk], i1[kChunk];
  float u[kChunk];
  uint32_t in0[kChunk], in1[kChunk];
};

enum class Cv2Position {
  kReal,         // of OpenCV 5
  kAffine32,     // 1/32 pixel, from products rounded to 1/1024 of a pixel
  kProjective32  // 1/32 pixel, rounded
};

// Index of the source = (numerator . (x, y, 1)) / (w . (x, y, 1)), f64.
struct Cv2Map {
  double x[3], y[3], w[3];
  bool projective;
  Cv2Position position;
  bool nearest;
};

// Byte offset of pixel i along an axis: ((i or, flipped, last - i) + odd >> shift) * stride.
struct Cv2Walk {
  bool flip;
  int last, odd, shift;
  int32_t stride;
};

struct Cv2Kernels {
  // words[i] = the pixel at base + offset[i], `bytes` (1..4) long; reads four bytes where
  // `readable` allows.
  void (*fetch)(const uint8_t* base, int64_t readable, int bytes, const int32_t* offset, int n,
                uint32_t* words);
  // words[i] |= base[offset[i]] << shift, or = for shift 0.
  void (*fetch_byte)(const uint8_t* base, const int32_t* offset, int shift, int n, uint32_t* words);
  // Y, U, V in bytes 0..2 become R, G, B: cvtColor of BT.601 limited range.
  void (*yuv_to_rgb)(uint32_t* words, int n);
  // R, G, B at these shifts become one gray byte.
  void (*rgb_to_gray)(uint32_t* words, const int shift[3], int n);
  void (*gray_to_rgb)(uint32_t* words, int n);
  // words[i] = outside where in_x & in_y is 0.
  void (*border)(const uint32_t* in_x, const uint32_t* in_y, uint32_t outside, int n,
                 uint32_t* words);

  // INTER_LINEAR of the byte at `shift`: 11-bit weights a of columns, b of rows. t: top left, top
  // right, bottom left, bottom right.
  void (*resize)(const uint32_t* const t[4], const int16_t* a0, const int16_t* a1, int b0, int b1,
                 int shift, int n, float* out);
  // Blend with real weights, rounded half to even, or half up.
  void (*blend)(const uint32_t* const t[4], const float* u, const float* v, bool half_up, int shift,
                int n, float* out);
  void (*component)(const uint32_t* words, int shift, int n, float* out);

  // Taps of pixels x .. x+n-1 of row y of the tensor. reflect: mirrored about the outermost
  // pixels' centres, otherwise clamped.
  void (*positions)(const Cv2Map& m, int x, int y, int n, int width, int height, bool reflect,
                    AxisTaps* along_x, AxisTaps* along_y);
  void (*offsets)(const int32_t* index, Cv2Walk walk, int n, int32_t* out);
  void (*add)(const int32_t* a, const int32_t* b, int n, int32_t* out);
};

const Cv2Kernels& cv2_kernels();  // for this machine

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_ROWS_CV2_H_
