// A compiled pipeline: what to do with any frame of its spec, into one tensor description.
#ifndef FOVEAL_IMGPROC_PLAN_H_
#define FOVEAL_IMGPROC_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "imgproc/filter.h"
#include "imgproc/frame.h"
#include "imgproc/geometry/transform.h"
#include "imgproc/plans/cv2.h"
#include "imgproc/plans/lerp.h"
#include "imgproc/plans/pillow.h"
#include "imgproc/plans/sides.h"
#include "imgproc/rows/filter.h"
#include "imgproc/rows/kernels.h"
#include "imgproc/rows/lerp.h"
#include "imgproc/rows/warp.h"
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

inline constexpr int kBandRows = 16;  // tensor rows of a band, but for quarter turns of filters

enum class PlanKind { kRowsFirst, kAxisAligned, kGather, kCv2, kSeparable, kPillow };

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

// Which part of a kGather run is sampled in whole numbers.
struct Warp {
  bool on = false;
  bool all = false;         // the whole image area
  int32_t most[2][2] = {};  // last left and upper tap: of pixels, of samples of linear chroma
};
// kSeparable in whole numbers: sums down source rows are shifted by `shift`, and sums along them
// times `unit` are values of 0..255.
struct FixedPlane {
  int shift = 0;
  float unit = 0;
};

// Everything one run needs, fixed before the bands start.
struct Run {
  const Kernels* k = nullptr;
  const FilterKernels* filter = nullptr;
  const FixedFilterKernels* fixed_filter = nullptr;
  const WarpKernels* warps = nullptr;
  const LerpKernels* lerp = nullptr;  // axis-aligned runs of bytes: plans/lerp.cc
  Source source;
  Geometry geometry;
  PlanKind kind = PlanKind::kGather;
  bool transposed = false;  // tensor x walks down source columns (rotations by 90)
  bool nearest = false;
  bool flipped[2] = {};  // rows, columns of the memory run against the upright picture
  Outside outside = Outside::kClamp;
  bool constant = false;  // the border's colour shows where taps weigh less than 1
  bool linear = false;    // chroma planes have taps of their own, between samples
  bool fast = false;      // direct: yuv in fixed point
  bool whole = false;     // kSeparable: in whole numbers
  FixedPlane plane[2];    // of whole: of the first group and of the others
  bool direct = false;    // kAxisAligned: rows of bytes become rows of packed bytes, no floats
  bool skips = false;     // rows of the tensor are two and more rows of the source apart
  bool reduced = false;   // kGather: the source is what Plan.smaller makes of the frame
  bool partial = false;   // kSeparable: only what `sides` cover is made
  Sides sides;
  bool jumps = false;               // taps of a row do not follow one row of the source
  int step = kChunk;                // tensor pixels per chunk
  LinearMap map;                    // kGather
  LinearMap chroma_map;             // of linear chroma, tensor pixels to chroma samples
  Siting siting = Siting::kCenter;  // of linear chroma
  Warp warp;                        // kGather
  ColorMap color;
  ColorMap line_color;  // kPillow: of lines that are converted before they are filtered
  bool luma = false;    // pillow profiles: R, G, B become Pillow's "L"
  FixedColor fixed;     // of fast
  float border[3] = {};
  float pad[3] = {};
  bool round = false;
  float scale[3] = {}, bias[3] = {};
  bool plain = false;  // 8-bit tensor, scale 1, bias 0
  bool table = false;  // whole numbers of 256 levels: Plan.table says the element of each
  Store store;
  uint8_t* dst = nullptr;
  bool planes = false;  // the result is a YUV picture, `picture`, not a tensor at `dst`
  Source picture;       // its memory is written

  // What is made of row y of the image area. The outermost rows stand for all that is outside.
  Columns columns(int y) const {
    if (!partial || y == geometry.y0 || y + 1 == geometry.y1) return {geometry.x0, geometry.x1};
    return sides.at(y, geometry.x0, geometry.x1);
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
  Cv2 cv2;                        // kCv2
  std::vector<int32_t> xo[3][2];  // [group][tap] offsets along tensor x
  Lerp lerp;                      // run.lerp
  FilterAxis fx, fy;              // kSeparable; kept from run to run
  Pillow pillow;                  // the pillow profiles
  std::vector<Plan> smaller;      // run.reduced: the one that has to run before; else unused
  std::vector<uint16_t> pixels;   // what a plan in `smaller` writes

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
};

// The same of several rows: what kSeparable and quarter turns of bytes make at once. A quarter turn
// makes columns of the tensor: the higher the block, the fewer times it goes down all of the
// source.
struct BandBlock {
  static constexpr int kColumns = 128, kTurnedRows = 64, kTurnedColumns = 32;

  explicit BandBlock(bool turned)
      : rows(turned ? kTurnedRows : kBandRows), columns(turned ? kTurnedColumns : kColumns) {}
  float* row(int y, int component) { return values + (y * 3 + component) * columns; }

  const int rows, columns;
  alignas(64) float values[kBandRows * 3 * kColumns];
};
static_assert(BandBlock::kTurnedRows * BandBlock::kTurnedColumns ==
              kBandRows * BandBlock::kColumns);

// lower.cc: classify the map, build tables and colour constants. Allocates nothing but tables of
// filters (kSeparable) that are larger than those of every run before.
Status lower(Plan& plan, const fv_frame& frame, const fv_roi* roi);

// plans/*.cc: sample tensor pixels [x, x + n) of row y into rows.c (source components), and
// rows.inside where run.constant.
void sample_axis_aligned(const Plan& plan, int x, int y, int n, Rows& rows);
void sample_gather(const Plan& plan, int x, int y, int n, Rows& rows);

// plans/lerp.cc: axis-aligned runs of bytes. size_lerp allocates the tables once; lower_lerp
// completes a run whose axes are built. Quarter turns fill blocks.
void size_lerp(Plan& plan);
void lower_lerp(Plan& plan);
void sample_lerp(const Plan& plan, int x, int y, int n, Rows& rows);
void sample_lerp(const Plan& plan, int x, int n, int y0, int y1, BandBlock& block);
// How much of the picture n tensor pixels from (x, y) on see.
void weigh_inside(const Plan& plan, int x, int y, int n, float* inside);

// plans/warp.cc: which of n tensor pixels from (x, y) on sample_warp takes; writes to rows from
// `at` on.
void lower_warp(Run& run);
Columns warp_columns(const Run& run, int x, int y, int n);
void sample_warp(const Plan& plan, int x, int y, int n, int at, Rows& rows);

// plans/reduce.cc: antialias of a region that is turned or in perspective. Changes run.source and
// the map to it, unless no pixels would be left out. Every band of plan.smaller must have run
// before any of the plan's.
Status lower_reduced(Plan& plan, Mat3& sensor_from_tensor);

// Tensor pixels [x, x + n) of rows [y0, y1), no more than the block holds.
void sample_separable(const Plan& plan, int x, int n, int y0, int y1, BandBlock& block);
// The same of `count` rows, one or two, of a run in whole numbers that is not transposed.
void sample_separable(const Plan& plan, int x, int y, int count, int n, Rows* rows);
// How many of rows [y, y1): two if they share source rows.
int rows_at_once(const Plan& plan, int y, int y1);
// Whether whole numbers are exact enough for a run whose tables are built; sets run.plane.
bool choose_whole(Plan& plan);

// plans/cv2.cc: the profiles "cv2" and "cv2_4", whole values in the tensor's colour. size_cv2
// allocates the tables once; lower_cv2 completes a run whose source and geometry are known.
void size_cv2(Plan& plan);
Status lower_cv2(Plan& plan, const fv_frame& frame, const fv_roi* roi);
void sample_cv2(const Plan& plan, int x, int y, int n, Rows& rows);

// plans/pillow.cc: the profiles "pillow" and "pillow_12". lower_pillow completes a run whose
// source, geometry and colour are known; with run.nearest what is left is to take pixels of the
// boxes.
Status lower_pillow(Plan& plan, const fv_roi* roi);
// What it shares with others of two passes of bytes: how lines are read (luma: R, G, B become
// Pillow's "L" first), then, with both tables built, the rest of the run.
void choose_lines(Plan& plan, bool luma);
void start_passes(Plan& plan);
// plans/torch_bytes.cc: the same for profile "torch" with intermediate "u8", along tensor x and y.
bool is_torch_bytes(const Spec& spec);
Status lower_torch_bytes(Plan& plan, const AxisMap& x, const AxisMap& y);
// Tensor pixels [x, x + n) of rows [y0, y1) into the scratch, n <= run.step, y1 - y0 <=
// kPillowRows; then row y0 + `row` of them as rows.c.
void sample_pillow(const Plan& plan, int x, int n, int y0, int y1, PillowScratch& scratch);
void read_pillow(const Plan& plan, const PillowScratch& scratch, int row, int n, Rows& rows);

// What both end a group with: numbers of 0..255, and nothing outside for linear chroma.
inline void finish_group(const Run& r, const Group& g, bool own, int at, int n, Rows& rows) {
  for (int c = g.first; c < g.first + g.count; ++c) {
    if (r.source.unit != 1) r.k->scale(rows.c[c] + at, r.source.unit, n);
    if (own && r.constant) r.k->multiply(rows.c[c] + at, rows.inside + at, n);
  }
}

// plans/direct.cc: whether rows of a lowered run are converted byte for byte, and the image area of
// rows [y0, y1) of such a run.
bool can_run_direct(const Plan& plan);
bool can_run_fast(const Plan& plan);  // in fixed point, of a run that is direct
void run_direct(const Plan& plan, int y0, int y1);
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
// Whether a run is sampled in blocks of rows (sample_block) or row by row (sample_pixels, n at most
// run.step); what it gives are source components of tensor pixels [x, x + n).
bool in_blocks(const Run& run);
void sample_pixels(const Plan& plan, int x, int y, int n, Rows& rows);
void sample_block(const Plan& plan, int x, int n, int y0, int y1, BandBlock& block);
// rows.inside of one row of a block, where run.constant.
void inside_of_block(const Plan& plan, int x, int n, int y, float* inside);
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
