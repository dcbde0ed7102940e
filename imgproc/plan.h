// A compiled pipeline: what to do with any frame of its spec, into one tensor description.
#ifndef FOVEAL_IMGPROC_PLAN_H_
#define FOVEAL_IMGPROC_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "imgproc/frame.h"
#include "imgproc/geometry/transform.h"
#include "imgproc/plans/cv2.h"
#include "imgproc/plans/gather.h"
#include "imgproc/plans/kind.h"
#include "imgproc/plans/lerp.h"
#include "imgproc/plans/pillow.h"
#include "imgproc/plans/separable.h"
#include "imgproc/plans/sides.h"
#include "imgproc/rows/kernels.h"
#include "imgproc/spec.h"

namespace foveal::imgproc {

// Where a component of a tensor pixel goes: at (y * row + x * pixel + c's offset) elements.
struct Store {
  fv_dtype dtype = FV_FLOAT32;
  int channels = 3;
  int64_t row = 0;            // elements between rows
  int64_t pixel = 0;          // elements between pixels
  int64_t component[3] = {};  // element offset of each component
  int lanes = 0;              // > channels within one pixel: the rest is zeroed (blocked layouts)
  uint64_t bytes = 0;         // of the whole tensor
  bool whole = false;         // int8, int16, or uint8 with a scale or a zero point
  float low = 0, high = 0;    // whole: what round(y / scale) is clamped to
  float zero = 0;             // whole: added after that
};

// How a tensor of whole numbers holds y: clamp(round half to even(y / scale) + zero_point).
struct Quantization {
  double scale = 1;
  int zero_point = 0;
};

// Affine colour map, source components -> tensor components, before the clamp.
struct ColorMap {
  bool copy = false;  // component j is source component from[j] unchanged
  int from[3] = {};
  float m[3][4] = {};  // row j: weights of the three source components, constant
};

// Taps along one axis of the tensor, for source positions that do not depend on the other.
struct Axis {
  std::vector<int32_t> i0, i1;  // clamped source indices
  std::vector<float> w0, w1;
  bool single = false;  // all weights are 1, 0: one tap
  bool unit = false;    // single, and indices rise by one
  bool falls = false;   // single, and indices fall by one

  // Pixel indices scale * (d + 0.5) + shift - 0.5 of tensor pixels [from, to), of `size` ones.
  struct Rule {
    double scale, shift;
    bool nearest, flipped;
    int from, to, size;
    Outside outside;
    bool operator==(const Rule&) const = default;
  };
  std::optional<Rule> built;  // what all this follows from, if it does: kept from run to run
};

// Everything one run needs, fixed before the bands start.
struct Run {
  const PlanKind* kind = nullptr;
  const Kernels* k = nullptr;
  Source source;
  Geometry geometry;

  // How tensor pixels find what they see.
  bool transposed = false;  // tensor x walks down source columns (rotations by 90)
  bool nearest = false;
  bool flipped[2] = {};  // rows, columns of the memory run against the upright picture
  Outside outside = Outside::kClamp;
  bool constant = false;            // the border's colour shows where taps weigh less than 1
  bool linear = false;              // chroma planes have taps of their own, between samples
  Siting siting = Siting::kCenter;  // of linear chroma
  Gather gather;
  bool reduced = false;  // the source is what Plan.smaller makes of the frame
  bool luma = false;     // pillow profiles: R, G, B become Pillow's "L"

  // In which order.
  int step = kChunk;     // tensor pixels that are sampled at once
  bool skips = false;    // rows of the tensor are two and more rows of the source apart
  bool jumps = false;    // taps of a row do not follow one row of the source
  bool partial = false;  // only what `sides` cover is made
  Sides sides;

  // What is made of it.
  ColorMap color;
  ColorMap line_color;  // kPillow: of lines that are converted before they are filtered
  bool fast = false;    // kBytesToBytes: by `fixed`
  FixedColor fixed;
  float border[3] = {};
  float pad[3] = {};
  bool round = false;
  float scale[3] = {}, bias[3] = {};
  bool plain = false;  // 8-bit tensor, scale 1, bias 0
  bool table = false;  // whole numbers of 256 levels: Plan.table says the element of each

  // And where it goes.
  Store store;
  uint8_t* dst = nullptr;
  bool planes = false;  // the result is a YUV picture, `picture`, not a tensor at `dst`
  Source picture;       // its memory is written

  // What is made of rows [from, to) of the image area. Its outermost rows stand for all that is
  // outside.
  Columns columns(int from, int to) const {
    const Geometry& g = geometry;
    if (!partial || from == g.y0 || to == g.y1) return {g.x0, g.x1};
    Columns all = sides.at(from, g.x0, g.x1);
    for (int y = from + 1; y < to; ++y) {
      const Columns c = sides.at(y, g.x0, g.x1);
      all = {std::min(all.from, c.from), std::max(all.to, c.to)};
    }
    return all;
  }
};

struct Plan {
  Spec spec;
  Store store;
  Quantization quantization;
  std::string text;  // of explain

  // Tables of the last run; sized at compile.
  Axis x, y;
  Axis chroma_x, chroma_y;        // of linear chroma
  std::vector<int32_t> xo[3][2];  // [group][tap] offsets along tensor x
  Lerp lerp;
  Separable separable;
  Cv2 cv2;
  Pillow pillow;
  std::vector<Plan> smaller;     // run.reduced: the one that has to run before; else unused
  std::vector<uint16_t> pixels;  // what a plan in `smaller` writes

  uint16_t table[3][256] = {};  // run.table: bits of the element, per channel and level

  Run run;
  bool ran = false;
  fv_pixel_format ran_format = 0;
  fv_pixel_format picture_format = 0;  // run.planes: of run.picture
};

// Planar float rows of one chunk, in source components.
struct Rows {
  alignas(64) float c[3][kChunk];
  alignas(64) float inside[kChunk];

  // `inside` counts where run.constant.
  void give(const Run& run, int x, int y, int n, RowSink& sink) const {
    const float* const in[3] = {c[0], c[1], c[2]};
    sink.take(x, y, n, in, run.constant ? inside : nullptr);
  }
};

// lower.cc: classify the map, build tables and colour constants. Allocates nothing but tables of
// filters (kSeparable) that are larger than those of every run before.
Status lower(Plan& plan, const fv_frame& frame, const fv_roi* roi);

// Each completes a run by a map from the tensor to its source: plans/axes.cc of a straight one or a
// quarter turn, plans/gather.cc of any other.
void lower_axis_aligned(Plan& plan, const Mat3& sensor_from_tensor);
void lower_gather(Plan& plan, const Mat3& sensor_from_tensor);

// plans/lerp.cc: axis-aligned runs of bytes. size_lerp allocates the tables once; lower_lerp
// completes a run whose axes are built.
void size_lerp(Plan& plan);
void lower_lerp(Plan& plan);

// How much of the picture n tensor pixels from (x, y) on see, of a run whose axes are built.
inline void weigh_inside(const Plan& p, int x, int y, int n, float* inside) {
  const float down = p.y.w0[y] + p.y.w1[y];
  for (int i = 0; i < n; ++i) inside[i] = (p.x.w0[x + i] + p.x.w1[x + i]) * down;
}

// plans/warp.cc: which of n tensor pixels from (x, y) on sample_warp takes; writes to rows from
// `at` on.
void lower_warp(Run& run);
Columns warp_columns(const Run& run, int x, int y, int n);
void sample_warp(const Plan& plan, int x, int y, int n, int at, Rows& rows);

// plans/reduce.cc: antialias of a region that is turned or in perspective. Changes run.source and
// the map to it, unless no pixels would be left out. Every band of plan.smaller must have run
// before any of the plan's.
Status lower_reduced(Plan& plan, Mat3& sensor_from_tensor);

// plans/separable.cc: completes a run whose tables are built.
void lower_separable(Plan& plan);

// plans/cv2.cc: the profiles "cv2" and "cv2_4", whole values in the tensor's colour. size_cv2
// allocates the tables once; lower_cv2 completes a run whose source and geometry are known.
void size_cv2(Plan& plan);
Status lower_cv2(Plan& plan, const fv_frame& frame, const fv_roi* roi);

// plans/pillow.cc: the profiles "pillow" and "pillow_12". lower_pillow completes a run whose
// source, geometry and colour are known; with run.nearest what is left is to take pixels of the
// boxes.
Status lower_pillow(Plan& plan, const fv_roi* roi);
// What it shares with others of two passes of bytes: how lines are read (luma: R, G, B become
// Pillow's "L" first), then, with both tables built, the rest of the run.
void choose_lines(Plan& plan, bool luma);
void start_passes(Plan& plan, const PlanKind& kind);
// plans/torch_bytes.cc: the same for profile "torch" with intermediate "u8", along tensor x and y.
inline bool is_torch_bytes(const Spec& s) {
  return FV_HAS_PROFILE("torch") && s.profile == Profile::kTorch &&
         s.intermediate == Intermediate::kU8 && s.color != Color::kYuv;
}
Status lower_torch_bytes(Plan& plan, const AxisMap& x, const AxisMap& y);

// What both end a group with: numbers of 0..255, and nothing outside for linear chroma.
inline void finish_group(const Run& r, const Group& g, bool own, int at, int n, Rows& rows) {
  for (int c = g.first; c < g.first + g.count; ++c) {
    if (r.source.unit != 1) r.k->scale(rows.c[c] + at, r.source.unit, n);
    if (own && r.constant) r.k->multiply(rows.c[c] + at, rows.inside + at, n);
  }
}

// plans/direct.cc: whether rows of a lowered run are converted byte for byte, and whether in fixed
// point.
bool can_run_direct(const Plan& plan);
bool can_run_fast(const Plan& plan);
// Whether rows of bytes are YUV that Conversions take, and the one from memory pixel (x, y) on.
bool converts_rows(const Source& source);
YuvRow yuv_row(const Source& source, int x, int y);

// plans/prefetch.cc: before a band of a run that jumps.
void prefetch_band(const Run& run, int y0, int y1);
// Before row y of a run that skips, while the row above is worked on.
void prefetch_row(const Plan& plan, int y);

// plans/band.cc: rows that one task should work on, and tensor rows [y0, y1), bars included.
int band_rows(const Plan& plan);
void run_band(const Plan& plan, int y0, int y1);
// Component c of the tensor's colour from source components. mix_color neither clamps nor rounds,
// and gives `out` or a row of `in`; finish_color gives clamped and rounded v * scale + bias.
// inside: NULL for all 1.
const float* mix_color(const Run& run, int c, int n, const float* const in[3], const float* inside,
                       float* out);
const float* finish_color(const Run& run, int c, int n, const float* const in[3],
                          const float* inside, float scale, float bias, float* out);

// plans/planes.cc: rows [y0, y1) of run.picture, from an even one on, at most band_rows of them.
void run_planes(const Plan& plan, int y0, int y1);
const char* planes_name(const Plan& plan);

// A flexible spec gets its width and height from the tensor. What make_store refuses is left to it.
Status read_tensor_size(const fv_tensor& input, fv_axis_order order, Spec& spec);

Result<Store> make_store(const Spec& spec, const fv_tensor& input, fv_axis_order order,
                         const Quantization& quantization);

// The constants behind sampling and colour: normalisation, rounding, quantisation, bars, border.
Status make_finish(const Quantization& quantization, Plan& plan);
FixedColor make_fixed(const ColorMap& map);
Result<ColorMap> make_color(const Spec& spec, const fv_frame& frame, const Source& source);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLAN_H_
