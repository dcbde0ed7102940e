// What a kind of plan is: one way to make the image area of a tensor.
#ifndef FOVEAL_IMGPROC_PLANS_KIND_H_
#define FOVEAL_IMGPROC_PLANS_KIND_H_

namespace foveal::imgproc {

struct Plan;

inline constexpr int kBandRows = 16;

// Takes what was sampled: source components c[0], c[1], c[2] of tensor pixels [x, x + n) of row y,
// 0..255. inside: how much of the picture each of them sees, NULL for all that they see.
class RowSink {
 public:
  virtual void take(int x, int y, int n, const float* const c[3], const float* inside) = 0;

 protected:
  ~RowSink() = default;
};

// Each is defined in a file of plans/ and chosen by lower.cc; nothing else asks which one it is.
// Runs of one plan in several threads share it: its functions change nothing but what they write.
struct PlanKind {
  const char* name;                     // of explain
  const char* (*detail)(const Plan&);   // of explain
  int rows_of_band = kBandRows;         // tensor rows that one task makes
  int rows_of_turned_band = kBandRows;  // the same of quarter turns, at most

  // How many rows from y on, before y1, `sample` had better make at once: 1 and more.
  int (*together)(const Plan&, int y, int y1) = [](const Plan&, int, int) { return 1; };
  // Gives tensor pixels [x, x + n), n at most Run.step, of rows [y0, y1), which are together, to
  // the sink: row by row, from the top.
  void (*sample)(const Plan&, int x, int n, int y0, int y1, RowSink&) = nullptr;
  // NULL, or writes the image area of rows [y0, y1) into the tensor by itself, instead of both.
  void (*write)(const Plan&, int y0, int y1) = nullptr;
};

extern const PlanKind kTaps, kRowsFirst;            // axis_aligned.cc
extern const PlanKind kPickedBytes, kBlendedBytes;  // lerp.cc
extern const PlanKind kBytesToBytes;                // direct.cc
extern const PlanKind kGather;                      // gather.cc
extern const PlanKind kSeparable;                   // separable.cc
extern const PlanKind kCv2;                         // cv2.cc
extern const PlanKind kPillow, kTorchBytes;         // pillow.cc

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLANS_KIND_H_
