// Row kernels: plain loops over a few hundred pixels that compilers vectorise, built once per
// instruction set and chosen at run time. They know nothing of frames, specs or layouts. Nothing is
// contracted (a * b + c rounds twice): results do not depend on the instruction set.
//
// Intermediate rows are planar float, one array per component, at most kChunk long.
#ifndef FOVEAL_IMGPROC_ROWS_KERNELS_H_
#define FOVEAL_IMGPROC_ROWS_KERNELS_H_

#include <cstdint>

namespace foveal::imgproc {

inline constexpr int kChunk = 256;  // destination pixels a kernel handles at once
inline constexpr int kSpan = 8192;  // most source elements of one row behind a chunk (lerp_rows)

// Taps of a chunk along x: offsets and weights. Weights of taps outside the frame are 0.
struct XTaps {
  const int32_t* o0;
  const int32_t* o1;
  const float* w0;
  const float* w1;
};

// Taps of a chunk anywhere: offset = y + x for each of the four combinations.
struct Taps4 {
  int32_t o00[kChunk], o01[kChunk], o10[kChunk], o11[kChunk];
};
struct Weights4 {
  float w00[kChunk], w01[kChunk], w10[kChunk], w11[kChunk];
};

// A row of Y, U and V. Luma values are `y_step` elements apart, chroma ones `step`; column i has
// chroma (i + odd) >> shift. y_below: luma of a second row that has the same chroma, NULL: none.
template <class T>
struct YuvRowOf {
  const T *y, *u, *v;
  int step;
  int odd;
  int y_step = 1, shift = 1;
  const T* y_below = nullptr;
};
using YuvRow = YuvRowOf<uint8_t>;
using DeepYuvRow = YuvRowOf<uint16_t>;

// A colour map in fixed point: R, G, B = (y + u + v + bias) >> 6, each term rounded to 1/64. Sums
// saturate at 2^15. All of it fits 16 bits, and is the same on every machine.
struct FixedColor {
  int16_t y;                    // 2^14
  int16_t u[3], v[3], bias[3];  // 2^13, 2^13, 2^6 with the half that rounds
};

// How pixel positions become offsets: ((p + odd) >> shift) * stride, per axis.
struct Block {
  int shift_x, shift_y, odd_x, odd_y;
  int32_t row, pixel;
};

// What taps outside of the frame are.
enum class Outside {
  kClamp,    // its outermost pixels
  kNothing,  // of weight 0, each by itself
  kCut,      // all of weight 0 where the point itself is outside, otherwise clamped
  kMirror    // its pixels, mirrored about the outermost ones' centres
};

// Bilinear positions of a chunk: clamped pixel indices and weights.
struct Positions {
  int32_t x0[kChunk], x1[kChunk], y0[kChunk], y1[kChunk];
};

// How a point on the border of two pixels is decided where only one of them counts: it belongs to
// the one on the right or below in the upright picture, and so do points a little before it, which
// rounding may have moved.
inline constexpr double kTie = 0x1p-20;

struct LinearMap {  // sensor pixel index = (a, b, c) . (dx, dy, 1), per axis; f64
  double x[3], y[3], w[3];
  bool projective;
};

// Of one type of component. Offsets, strides and counts are in elements. Results are stored numbers
// as floats; floats of a frame are clamped to 0..1 first, NaN to 0. sample1, sample_lanes and
// lerp_rows are NULL of bytes: see rows/lerp.h.
struct ElementKernels {
  // out[i] = v0 * (w0 r0[o0] + w1 r0[o1]) + v1 * (w0 r1[o0] + w1 r1[o1])
  void (*sample1)(const void* r0, const void* r1, XTaps t, float v0, float v1, int n, float* out);
  // The same for the first `span` (2 or 3) elements of every pixel, into lane[0], lane[1] ...
  // Never reads at or beyond r0 + readable0, r1 + readable1.
  void (*sample_lanes)(const void* r0, int64_t readable0, const void* r1, int64_t readable1,
                       int span, XTaps t, float v0, float v1, int n, float* const lane[3]);
  // One tap of weight 1: exact copies.
  void (*copy1)(const void* r0, const int32_t* o0, int n, float* out);
  // The same for neighbours: pixels r0 + i * pixel, `span` elements of each into lanes.
  void (*unpack)(const void* r0, int64_t readable, int pixel, int span, int n,
                 float* const lane[3]);
  // Rows first: out[i] = v0 r0[i] + v1 r1[i] over `n` elements.
  void (*lerp_rows)(const void* r0, const void* r1, float v0, float v1, int n, float* out);
  void (*gather1)(const void* base, const Taps4& t, const Weights4& w, int n, float* out);
  void (*gather_lanes)(const void* base, int64_t readable, int span, const Taps4& t,
                       const Weights4& w, int n, float* const lane[3]);
};

// Positions of a chunk in a mask: (start + slope i) of x and y, over those of w where projective,
// minus 0.5, kept within lo..hi. Every pixel may read one to its right, one below and both.
struct MaskRow {
  const float* data;
  int32_t stride;
  double start[3], slope[3];
  float lo[2], hi[2];
  bool projective;
};

// Rows of bytes to rows of packed bytes.
struct Conversions {
  // To three adjacent bytes, any n. Bit for bit what the rows of floats would give; reads nothing
  // but the n pixels. out_below: of y_below.
  void (*yuv)(const YuvRow& in, const float m[3][4], int n, uint8_t* out, uint8_t* out_below);
  void (*deep_yuv)(const DeepYuvRow& in, const float m[3][4], int n, uint8_t* out,
                   uint8_t* out_below);
  // The same within 0.06 of the exact value before rounding, at about 2/3 of the time. shift is 1.
  void (*fast_yuv)(const YuvRow& in, const FixedColor& m, int n, uint8_t* out);
  // out[3 i + k] = in[i * pixel + offset[k]], offsets 0..2; distinct buffers.
  void (*pick)(const uint8_t* in, int pixel, const int offset[3], int n, uint8_t* out);
  // Bytes to bytes, as mix1 and mix3 of the float rows: k in[i * pixel] + b, and the weighted sum
  // of the bytes at offset[0], [1] and [2] of a pixel plus m[3].
  void (*level)(const uint8_t* in, int pixel, float k, float b, int n, uint8_t* out);
  void (*luma)(const uint8_t* in, int pixel, const int offset[3], const float m[4], int n,
               uint8_t* out);
  // The same with m[0] into y; of m[1] and m[2] the sums, clamped to 0..255 and not rounded, are
  // written to u and v, or with `more` added to what is there. Asks memory for the pixels `ahead`
  // bytes behind these.
  void (*planes)(const uint8_t* in, int64_t ahead, int pixel, const int offset[3],
                 const float m[3][4], bool more, int n, uint8_t* y, float* u, float* v);
};

// Colour and normalisation.
struct ColorKernels {
  // out = m[0] a + m[1] b + m[2] c + m[3] * inside + border * (1 - inside); inside NULL: 1.
  void (*mix3)(const float* a, const float* b, const float* c, const float* inside,
               const float m[4], float border, int n, float* out);
  // out = m[0] a + m[3] * inside + border * (1 - inside). out may be a.
  void (*mix1)(const float* a, const float* inside, const float m[4], float border, int n,
               float* out);
  // Clamp to 0..255, round half to even if asked, then y = x * k + b. out may be in.
  void (*finish)(const float* in, bool round, float k, float b, int n, float* out);
  // mix3 with inside NULL, then finish.
  void (*mix3_finish)(const float* a, const float* b, const float* c, const float m[4], bool round,
                      float scale, float bias, int n, float* out);
};

struct Kernels {
  ElementKernels element[3];  // uint8, uint16, float

  // out[i] = in[(i + odd) / 2]: replicated chroma.
  void (*twice)(const float* in, int odd, int n, float* out);
  // Taps on a row of lerp_rows; row[0] is the element at offset `first`.
  void (*taps)(const float* row, int32_t first, XTaps t, int n, float* out);
  // v[i] *= k
  void (*scale)(float* v, float k, int n);
  void (*multiply)(float* v, const float* by, int n);  // v[i] *= by[i]
  void (*add)(float* v, const float* more, int n);     // v[i] += more[i]
  // out[i] = (in[2 i] + in[2 i + 1]) * k
  void (*pair_sums)(const float* in, float k, int n, float* out);

  // Positions of tensor pixels x .. x+n-1 of row y. nearest: the pixel that holds the point.
  // flipped: this axis, x or y, runs against the upright picture's.
  void (*positions)(const LinearMap& m, double x, double y, int n, int width, int height,
                    bool nearest, Outside outside, const bool flipped[2], Positions* p,
                    Weights4* w);
  void (*offsets)(const Positions& p, Block b, int n, Taps4* t);

  ColorKernels color;
  Conversions convert;

  void (*to_u8)(const float* in, int n, uint8_t* out);  // round half to even, saturate
  // Bits of other elements, in the low bits of a word. Half and bfloat round half to even.
  void (*to_f16)(const float* in, int n, uint16_t* out);
  void (*to_bf16)(const float* in, int n, uint16_t* out);
  // clamp(round half to even(in), low, high) + zero; |low|, |high| < 2^22.
  void (*to_whole)(const float* in, float low, float high, float zero, int n, uint16_t* out);
  // out[i] = table[clamp(round half to even(in[i]))], 256 entries.
  void (*look_up)(const float* in, const uint16_t* table, int n, uint16_t* out);
  // Interleave three rows, or spread one; `step` elements between pixels.
  void (*pack3_f32)(const float* a, const float* b, const float* c, int n, int step, float* out);
  void (*pack3_u8)(const float* a, const float* b, const float* c, int n, int step, uint8_t* out);
  // The same for bits; b8 stores the low bytes.
  void (*pack3_b8)(const uint16_t* a, const uint16_t* b, const uint16_t* c, int n, int step,
                   uint8_t* out);
  void (*pack3_b16)(const uint16_t* a, const uint16_t* b, const uint16_t* c, int n, int step,
                    uint16_t* out);
  void (*zip)(const uint8_t* a, const uint8_t* b, int n, uint8_t* out);  // a[0] b[0] a[1] ...
  void (*spread_f32)(const float* a, int n, int64_t step, float* out);
  void (*spread_u8)(const float* a, int n, int64_t step, uint8_t* out);
  void (*spread_b8)(const uint16_t* a, int n, int64_t step, uint8_t* out);
  void (*spread_b16)(const uint16_t* a, int n, int64_t step, uint16_t* out);

  void (*mask_bilinear)(const MaskRow& r, int n, float* out);
  void (*mask_nearest)(const MaskRow& r, int n, float* out);
};

const Kernels& kernels();  // for this machine

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_ROWS_KERNELS_H_
