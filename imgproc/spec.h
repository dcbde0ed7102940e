// The pipeline specification: parsed, validated, canonical. Immutable once read.
#ifndef FOVEAL_IMGPROC_SPEC_H_
#define FOVEAL_IMGPROC_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/selection.h"
#include "base/status.h"

namespace foveal::imgproc {

// Enumerators are in the order of the JSON strings (see spec.cc).
enum class SizeKind { kFixed, kSides, kStrip };
enum class Color { kRgb, kBgr, kGray, kYuv };
enum class Orient { kFrame, kNone, kExplicit };
enum class FitKind { kStretch, kLetterbox, kCover, kMatrix, kCrop };
enum class Policy { kUltralytics, kYolox, kMediapipe, kPaddleocr };
enum class CropPolicy { kTorchvision, kHuggingface, kOpencv };
enum class SampleKind { kBilinear, kNearest, kBicubic, kArea, kLanczos3 };
enum class Grid { kHalfPixel, kAlignCorners, kAsymmetric };
enum class Profile { kExact, kFast, kCv2, kCv2_4, kPillow, kPillow12, kTorch };
enum class BorderKind { kReplicate, kConstant, kConstantHard, kReflect101 };
enum class Matrix { kFrame, kBt601, kBt709, kBt2020 };
enum class Range { kFrame, kLimited, kFull };
enum class Chroma { kReplicate, kLinear };
enum class Siting { kFrame, kCenter, kLeft, kTopLeft };
enum class YuvTo {
  kFrame,
  kBt601Limited,
  kBt601Full,
  kBt709Limited,
  kBt709Full,
  kBt2020Limited,
  kBt2020Full
};
enum class Intermediate { kF32, kU8 };

inline constexpr int kMaxTensorSide = 16384;

// How the tensor's size follows from the region that it shows. Zero where a kind has no such value.
struct SizeRule {
  SizeKind kind = SizeKind::kFixed;
  int min = 0, max = 0;  // kSides: of the short and the long side; kStrip: of the width
  int height = 0;        // kStrip
  int multiple = 1;      // of each side (kSides), of the width (kStrip)
};

struct Spec {
  SizeRule size;
  int width = 0;  // of the tensor; 0 until a plan has one, unless the size is fixed
  int height = 0;
  Color color = Color::kRgb;
  Orient orient = Orient::kFrame;
  int orient_degrees = 0;  // kExplicit
  bool roi_per_call = false;

  FitKind fit = FitKind::kStretch;
  Policy policy = Policy::kUltralytics;
  std::vector<double> pad;     // letterbox, per channel
  std::vector<double> matrix;  // kMatrix: 9, tensor -> upright
  CropPolicy crop = CropPolicy::kTorchvision;
  std::vector<int> resize;  // kCrop: the short side, or width and height; none for kOpencv

  SampleKind sample = SampleKind::kBilinear;
  bool antialias = false;
  double bicubic_a = -0.5;
  Grid grid = Grid::kHalfPixel;
  Profile profile = Profile::kExact;

  BorderKind border = BorderKind::kReplicate;
  std::vector<double> border_value;  // per channel

  Matrix yuv_matrix = Matrix::kFrame;
  Range yuv_range = Range::kFrame;
  Chroma chroma = Chroma::kReplicate;
  Siting siting = Siting::kFrame;
  YuvTo yuv_to = YuvTo::kFrame;  // Color::kYuv: what the tensor's numbers mean

  double norm_scale = 1;
  std::vector<double> norm_mean, norm_std;  // per channel
  Intermediate intermediate = Intermediate::kF32;

  std::string json;    // canonical
  std::string digest;  // SHA-256 of json

  bool flexible() const { return size.kind != SizeKind::kFixed; }
  int channels() const { return color == Color::kGray ? 1 : 3; }
};

Result<Spec> parse_spec(std::string_view text);

inline bool is_cv2(const Spec& s) {  // profiles "cv2" and "cv2_4"
  return FV_HAS_PROFILE("cv2") && (s.profile == Profile::kCv2 || s.profile == Profile::kCv2_4);
}
inline bool is_pillow(const Spec& s) {  // profiles "pillow" and "pillow_12"
  return FV_HAS_PROFILE("pillow") &&
         (s.profile == Profile::kPillow || s.profile == Profile::kPillow12);
}
// Of the cv2 profiles: the fit is a map (warpAffine, warpPerspective), not a resize of a slice.
bool cv2_warps(const Spec& spec);

// What this build cannot compute is refused here, with the reason. Never a fallback.
Status check_supported(const Spec& spec);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_SPEC_H_
