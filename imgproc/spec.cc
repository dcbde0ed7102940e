#include "imgproc/spec.h"

#include <cmath>

#include "imgproc/filter.h"
#include "imgproc/json.h"
#include "imgproc/sha256.h"

namespace foveal::imgproc {
namespace {

using Names = json::Names;
using Text = std::string_view;
constexpr Text kSizes[] = {"sides", "strip"};  // an array is fixed
constexpr Text kColors[] = {"RGB", "BGR", "GRAY", "YUV"};
constexpr Text kRois[] = {"full", "per_call"};
constexpr Text kFits[] = {"stretch", "letterbox", "cover", "matrix", "crop"};
constexpr Text kPolicies[] = {"ultralytics", "yolox", "mediapipe", "paddleocr"};
constexpr Text kCrops[] = {"torchvision", "huggingface", "opencv"};
constexpr Text kSamples[] = {"bilinear", "nearest", "bicubic", "area", "lanczos3"};
constexpr Text kGrids[] = {"half_pixel", "align_corners", "asymmetric"};
constexpr Text kProfiles[] = {"exact", "fast", "cv2", "cv2_4", "pillow", "pillow_12", "torch"};
// What FOVEAL_PROFILES calls them.
constexpr Text kFamilies[] = {"exact", "exact", "cv2", "cv2", "pillow", "pillow", "torch"};
constexpr Text kBorders[] = {"replicate", "constant", "constant_hard", "reflect101"};
constexpr Text kMatrices[] = {"frame", "bt601", "bt709", "bt2020"};
constexpr Text kRanges[] = {"frame", "limited", "full"};
constexpr Text kChromas[] = {"replicate", "linear"};
constexpr Text kSitings[] = {"frame", "center", "left", "top_left"};
constexpr Text kYuvTo[] = {"frame",      "bt601-limited",  "bt601-full", "bt709-limited",
                           "bt709-full", "bt2020-limited", "bt2020-full"};
constexpr Text kIntermediates[] = {"f32", "u8"};

template <class E>
std::string name(Names names, E e) {
  return json::quote(names[static_cast<size_t>(e)]);
}

template <class E>
Status read_enum(const json::Object& o, std::string_view key, Names names, E& out) {
  int i = static_cast<int>(out);
  FV_TRY(o.read_enum(key, names, i));
  out = static_cast<E>(i);
  return ok();
}

// Every kind of object begins with "k".
template <class E>
Status read_kind(const json::Object& o, Names names, E& out) {
  FV_TRY(o.require("k"));
  return read_enum(o, "k", names, out);
}

// Two whole numbers that can be sides of a tensor.
Status read_pair(const json::Object& o, std::string_view key, const char* expected, int& first,
                 int& second) {
  std::vector<double> pair;
  FV_TRY(o.require(key));
  FV_TRY(o.read(key, 2, false, pair));
  for (const double v : pair)
    if (v != std::floor(v) || v < 1 || v > kMaxTensorSide)
      return o.error(key, std::string(expected) + ", whole numbers in 1..16384", o.find(key));
  first = static_cast<int>(pair[0]);
  second = static_cast<int>(pair[1]);
  return ok();
}

Status read_size(const json::Object& root, Spec& s) {
  const json::Value* v = root.find("size");
  if (!v || v->type != json::Type::kObject)
    return read_pair(root, "size", "[width, height]", s.width, s.height);
  SizeRule& r = s.size;
  json::Object o;
  bool present;
  FV_TRY(root.object("size", o, present));
  FV_TRY(o.require("k"));
  int kind = 0;
  FV_TRY(o.read_enum("k", kSizes, kind));
  r.kind = kind == 0 ? SizeKind::kSides : SizeKind::kStrip;
  FV_TRY(o.read_int("multiple", 1, kMaxTensorSide, r.multiple));
  if (r.kind == SizeKind::kSides) {
    FV_TRY(o.only({"k", "min", "max", "multiple"}));
    FV_TRY(o.require("max"));
    FV_TRY(o.read_int("max", r.multiple, kMaxTensorSide, r.max));
    r.min = 1;
    return o.read_int("min", 1, r.max, r.min);
  }
  FV_TRY(o.only({"k", "height", "width", "multiple"}));
  FV_TRY(o.require("height"));
  FV_TRY(o.read_int("height", 1, kMaxTensorSide, r.height));
  FV_TRY(read_pair(o, "width", "[least, most]", r.min, r.max));
  if (r.min > r.max || r.min % r.multiple || r.max % r.multiple)
    return o.error("width", format("[least, most] in order, multiples of %d", r.multiple),
                   o.find("width"));
  return ok();
}

Status read_level(const json::Object& o, std::string_view key, size_t channels,
                  std::vector<double>& out) {
  FV_TRY(o.read(key, channels, true, out));
  for (const double v : out)
    if (v < 0 || v > 255) return o.error(key, "values in 0..255", o.find(key));
  return ok();
}

// What stands for one luma level, or a level per channel, where the spec says nothing.
std::vector<double> grey(const Spec& s, double level) {
  if (s.color == Color::kYuv) return {level, 128, 128};
  return std::vector<double>(static_cast<size_t>(s.channels()), level);
}

// The picture that the tensor is cut from must hold all of it.
Status read_crop(const json::Object& o, Spec& s) {
  FV_TRY(o.only({"k", "resize", "policy"}));
  FV_TRY(read_enum(o, "policy", kCrops, s.crop));
  if (s.flexible())
    return Status(FV_SPEC_ERROR, "pipeline spec: fit: \"crop\" needs a fixed size",
                  "give size as [width, height]");
  const json::Value* v = o.find("resize");
  if (s.crop == CropPolicy::kOpencv) {
    if (v) return o.error("resize", "nothing: policy \"opencv\" resizes to the tensor's size", v);
    return ok();
  }
  FV_TRY(o.require("resize"));
  int least[2] = {0, 0};
  if (v->type == json::Type::kNumber) {
    FV_TRY(o.read_int("resize", 1, kMaxTensorSide, least[0]));
    s.resize = {least[0]};
    least[1] = least[0];
  } else {
    FV_TRY(read_pair(o, "resize", "the short side or [width, height]", least[0], least[1]));
    s.resize = {least[0], least[1]};
  }
  if (least[0] >= s.width && least[1] >= s.height) return ok();
  return o.error("resize", format("at least the tensor's %dx%d", s.width, s.height), v);
}

Status read_fit(const json::Object& root, Spec& s) {
  json::Object o;
  bool present;
  FV_TRY(root.object("fit", o, present));
  if (!present) return ok();
  FV_TRY(read_kind(o, kFits, s.fit));
  switch (s.fit) {
    case FitKind::kStretch:
    case FitKind::kCover:
      return o.only({"k"});
    case FitKind::kLetterbox:
      FV_TRY(o.only({"k", "pad", "policy"}));
      FV_TRY(read_enum(o, "policy", kPolicies, s.policy));
      if (s.policy == Policy::kMediapipe)
        s.pad.clear();  // comes from the border
      else
        s.pad = grey(s, 114);
      return read_level(o, "pad", s.channels(), s.pad);
    case FitKind::kMatrix:
      FV_TRY(o.only({"k", "m"}));
      FV_TRY(o.require("m"));
      return o.read("m", 9, false, s.matrix);
    case FitKind::kCrop:
      return read_crop(o, s);
  }
  return ok();
}

Status read_sample(const json::Object& root, Spec& s) {
  json::Object o;
  bool present;
  FV_TRY(root.object("sample", o, present));
  if (!present) return ok();
  FV_TRY(read_kind(o, kSamples, s.sample));
  switch (s.sample) {
    case SampleKind::kNearest:
      FV_TRY(o.only({"k", "grid"}));
      break;
    case SampleKind::kArea:
      FV_TRY(o.only({"k"}));
      break;
    case SampleKind::kBicubic:
      FV_TRY(o.only({"k", "antialias", "grid", "a"}));
      break;
    default:
      FV_TRY(o.only({"k", "antialias", "grid"}));
  }
  FV_TRY(o.read("antialias", s.antialias));
  FV_TRY(o.read("a", s.bicubic_a));
  return read_enum(o, "grid", kGrids, s.grid);
}

Status read_border(const json::Object& root, Spec& s) {
  json::Object o;
  bool present;
  FV_TRY(root.object("border", o, present));
  if (!present) return ok();
  FV_TRY(read_kind(o, kBorders, s.border));
  if (s.border == BorderKind::kReplicate || s.border == BorderKind::kReflect101)
    return o.only({"k"});
  FV_TRY(o.only({"k", "v"}));
  s.border_value = grey(s, 0);
  return read_level(o, "v", s.channels(), s.border_value);
}

Status read_yuv(const json::Object& root, Spec& s) {
  json::Object o;
  bool present;
  FV_TRY(root.object("yuv", o, present));
  if (!present) return ok();
  FV_TRY(o.only({"matrix", "range", "chroma", "siting", "to"}));
  FV_TRY(read_enum(o, "matrix", kMatrices, s.yuv_matrix));
  FV_TRY(read_enum(o, "range", kRanges, s.yuv_range));
  FV_TRY(read_enum(o, "chroma", kChromas, s.chroma));
  FV_TRY(read_enum(o, "siting", kSitings, s.siting));
  if (s.color != Color::kYuv && o.find("to"))
    return o.error("to", "nothing beside a color other than \"YUV\"", o.find("to"));
  return read_enum(o, "to", kYuvTo, s.yuv_to);
}

Status read_norm(const json::Object& root, Spec& s) {
  const size_t n = static_cast<size_t>(s.channels());
  s.norm_mean.assign(n, 0);
  s.norm_std.assign(n, 1);
  json::Object o;
  bool present;
  FV_TRY(root.object("norm", o, present));
  if (!present) return ok();
  FV_TRY(o.only({"scale", "mean", "std"}));
  FV_TRY(o.read("scale", s.norm_scale));
  FV_TRY(o.read("mean", n, true, s.norm_mean));
  FV_TRY(o.read("std", n, true, s.norm_std));
  const auto fits = [](double v) { return std::isfinite(static_cast<float>(v)); };
  if (s.norm_scale == 0)
    return o.error("scale", "a factor that is not 0 (every picture would look the same)",
                   o.find("scale"));
  constexpr char kRange[] = "results within float32";
  if (!fits(255 * s.norm_scale)) return o.error("scale", kRange, o.find("scale"));
  for (size_t c = 0; c < n; ++c) {
    if (s.norm_std[c] == 0) return o.error("std", "values that are not 0", o.find("std"));
    if (!fits(s.norm_mean[c])) return o.error("mean", kRange, o.find("mean"));
    const float k = static_cast<float>(s.norm_scale / s.norm_std[c]);
    const float b = static_cast<float>(-s.norm_mean[c] / s.norm_std[c]);
    if (!std::isfinite(k) || !std::isfinite(b) || !std::isfinite(255.0f * k + b))
      return o.error("std", kRange, o.find("std"));
  }
  return ok();
}

Status read_orient(const json::Object& root, Spec& s) {
  const json::Value* v = root.find("orient");
  if (!v) return ok();
  if (v->type == json::Type::kNumber &&
      (v->number == 0 || v->number == 90 || v->number == 180 || v->number == 270)) {
    s.orient = Orient::kExplicit;
    s.orient_degrees = static_cast<int>(v->number);
    return ok();
  }
  if (v->type == json::Type::kString && (v->string == "frame" || v->string == "none")) {
    s.orient = v->string == "frame" ? Orient::kFrame : Orient::kNone;
    return ok();
  }
  return root.error("orient", "\"frame\", \"none\", 0, 90, 180 or 270", v);
}

std::string canonical_size(const Spec& s) {
  const SizeRule& r = s.size;
  if (r.kind == SizeKind::kSides)
    return format("{\"k\":\"sides\",\"min\":%d,\"max\":%d,\"multiple\":%d}", r.min, r.max,
                  r.multiple);
  if (r.kind == SizeKind::kStrip)
    return format("{\"k\":\"strip\",\"height\":%d,\"width\":[%d,%d],\"multiple\":%d}", r.height,
                  r.min, r.max, r.multiple);
  return format("[%d,%d]", s.width, s.height);
}

std::string canonical(const Spec& s) {
  std::string t = "{\"imgproc\":1,\"size\":" + canonical_size(s) + ",\"color\":";
  t += name(kColors, s.color) + ",\"orient\":";
  t += s.orient == Orient::kFrame  ? "\"frame\""
       : s.orient == Orient::kNone ? "\"none\""
                                   : std::to_string(s.orient_degrees);
  t += ",\"roi\":" + name(kRois, s.roi_per_call) + ",\"fit\":{\"k\":" + name(kFits, s.fit);
  if (s.fit == FitKind::kLetterbox) {
    if (!s.pad.empty()) t += ",\"pad\":" + json::numbers(s.pad);
    t += ",\"policy\":" + name(kPolicies, s.policy);
  }
  if (s.fit == FitKind::kMatrix) t += ",\"m\":" + json::numbers(s.matrix);
  if (s.fit == FitKind::kCrop) {
    if (s.resize.size() == 1) t += format(",\"resize\":%d", s.resize[0]);
    if (s.resize.size() == 2) t += format(",\"resize\":[%d,%d]", s.resize[0], s.resize[1]);
    t += ",\"policy\":" + name(kCrops, s.crop);
  }
  t += "},\"sample\":{\"k\":" + name(kSamples, s.sample);
  if (s.sample != SampleKind::kNearest && s.sample != SampleKind::kArea)
    t += std::string(",\"antialias\":") + (s.antialias ? "true" : "false");
  if (s.sample == SampleKind::kBicubic) t += ",\"a\":" + json::number(s.bicubic_a);
  if (s.sample != SampleKind::kArea) t += ",\"grid\":" + name(kGrids, s.grid);
  t += "},\"profile\":" + name(kProfiles, s.profile) +
       ",\"border\":{\"k\":" + name(kBorders, s.border);
  if (!s.border_value.empty()) t += ",\"v\":" + json::numbers(s.border_value);
  t += "},\"yuv\":{\"matrix\":" + name(kMatrices, s.yuv_matrix) +
       ",\"range\":" + name(kRanges, s.yuv_range) + ",\"chroma\":" + name(kChromas, s.chroma) +
       ",\"siting\":" + name(kSitings, s.siting);
  if (s.color == Color::kYuv) t += ",\"to\":" + name(kYuvTo, s.yuv_to);
  t += "},\"norm\":{\"scale\":" + json::number(s.norm_scale) +
       ",\"mean\":" + json::numbers(s.norm_mean) + ",\"std\":" + json::numbers(s.norm_std) +
       "},\"intermediate\":" + name(kIntermediates, s.intermediate) + "}";
  return t;
}

Status unsupported(const std::string& what, const char* hint) {
  return Status(FV_SPEC_ERROR, "pipeline spec: " + what, hint);
}

// What the profile's library defines, and what this build can filter.
Status check_sampler(const Spec& s) {
  const std::string profile = "profile " + name(kProfiles, s.profile);
  const std::string sample = "sample " + name(kSamples, s.sample);
  if (s.sample == SampleKind::kBicubic && s.bicubic_a != -0.5 && s.bicubic_a != -0.75)
    return unsupported("sample \"bicubic\": a is -0.5 or -0.75, got " + json::number(s.bicubic_a),
                       "-0.5 is Pillow's, and torch's with antialias; -0.75 is OpenCV's");
  if (s.profile == Profile::kTorch) {
    if (s.sample != SampleKind::kBilinear && s.sample != SampleKind::kBicubic)
      return unsupported(
          profile + " does not define " + sample + ": torch picks and averages other pixels",
          "use \"bilinear\", \"bicubic\" or profile \"exact\"");
    if (s.sample == SampleKind::kBicubic && s.bicubic_a != (s.antialias ? -0.5 : -0.75))
      return unsupported(profile +
                             " defines sample \"bicubic\" with a = -0.5 when antialias is "
                             "set and with -0.75 otherwise",
                         "set a");
    if (s.antialias && s.grid != Grid::kHalfPixel)
      return unsupported(profile + " defines antialias for grid \"half_pixel\" only",
                         "use that grid");
  }
  if (is_filter(s) && s.chroma != Chroma::kReplicate)
    return unsupported(
        "chroma \"linear\" is not available in this build for filters (" + sample + ")",
        "use \"replicate\"");
  if (is_filter(s) && s.border != BorderKind::kReplicate && s.border != BorderKind::kConstant)
    return unsupported("border " + name(kBorders, s.border) +
                           " is not available in this build for filters (" + sample + ")",
                       "use \"replicate\" or \"constant\"");
  if (is_filter(s) && !can_reduce(s) && s.fit == FitKind::kMatrix) {
    const std::vector<double>& m = s.matrix;
    const bool along = (m[1] == 0 && m[3] == 0) || (m[0] == 0 && m[4] == 0);
    if (m[6] != 0 || m[7] != 0 || !along)
      return unsupported(
          sample + (s.antialias ? " with antialias" : "") +
              " is a filter along the frame's axes: expected a matrix that keeps them, got one "
              "that turns, shears or is in perspective",
          "use \"bilinear\", profile \"exact\" or \"fast\"");
  }
  return ok();
}

// The cv2 profiles: what OpenCV's resize, warpAffine, warpPerspective and cvtColor define for 8-bit
// pictures, to the bit.
Status check_cv2(const Spec& s) {
  const std::string profile = "profile " + name(kProfiles, s.profile);
  if (s.color == Color::kYuv)
    return unsupported(profile + " does not define color \"YUV\"", "use profile \"exact\"");
  if (s.sample != SampleKind::kBilinear && s.sample != SampleKind::kNearest)
    return unsupported(
        profile + " does not define sample " + name(kSamples, s.sample) + " to the bit",
        "use \"bilinear\", \"nearest\" or another profile");
  if (s.antialias)
    return unsupported(profile + " has no antialias: INTER_LINEAR looks at four pixels",
                       "set antialias to false, or use another profile");
  if (s.intermediate != Intermediate::kU8)
    return unsupported(profile + " computes bytes: expected intermediate \"u8\", got \"f32\"",
                       "set intermediate to \"u8\"");
  const bool floors = s.sample == SampleKind::kNearest && !cv2_warps(s);
  const Grid grid = floors ? Grid::kAsymmetric : Grid::kHalfPixel;
  if (s.grid != grid)
    return unsupported(
        profile + " defines sample " + name(kSamples, s.sample) + " with grid " +
            name(kGrids, grid) + (cv2_warps(s) ? " for this fit" : "") + ", got " +
            name(kGrids, s.grid),
        floors ? "INTER_NEAREST takes the pixel at floor(x * scale); INTER_NEAREST_EXACT differs "
                 "between versions of OpenCV"
               : "set sample.grid");
  if (s.border == BorderKind::kConstantHard)
    return unsupported(profile + " does not define border \"constant_hard\"",
                       "BORDER_CONSTANT is \"constant\"");
  for (const double v : s.border_value)
    if (v != std::floor(v))
      return unsupported(profile + ": border: expected whole numbers, got " + json::number(v),
                         "colours are bytes");
  if (s.chroma != Chroma::kReplicate)
    return unsupported(profile + " does not define chroma \"linear\"", "use \"replicate\"");
  const bool bt601 = s.yuv_matrix == Matrix::kFrame || s.yuv_matrix == Matrix::kBt601;
  if (s.color != Color::kGray && (!bt601 || s.yuv_range == Range::kFull))
    return unsupported(profile + " defines yuv bt601, limited only, as cv2.cvtColor does",
                       "use profile \"exact\" for other matrices and ranges");
  return ok();
}

// The pillow profiles: what Pillow's Image.resize defines for 8-bit pictures, to the bit.
Status check_pillow(const Spec& s) {
  const std::string profile = "profile " + name(kProfiles, s.profile);
  const std::string sample = "sample " + name(kSamples, s.sample);
  const bool filters = s.sample != SampleKind::kNearest && s.sample != SampleKind::kArea;
  if (s.color == Color::kYuv)
    return unsupported(profile + " does not define color \"YUV\"",
                       "use \"RGB\", \"BGR\", \"GRAY\" or profile \"exact\"");
  if (s.sample == SampleKind::kBicubic && s.bicubic_a != -0.5)
    return unsupported(
        profile + " defines sample \"bicubic\" with a = -0.5, got " + json::number(s.bicubic_a),
        "set a, or use another profile");
  if (filters && !s.antialias)
    return unsupported(profile + " defines " + sample + " with antialias only",
                       "set antialias to true, or use another profile");
  if (s.intermediate != Intermediate::kU8)
    return unsupported(profile + " computes bytes: expected intermediate \"u8\", got \"f32\"",
                       "set intermediate to \"u8\"");
  if (s.grid != Grid::kHalfPixel)
    return unsupported(profile + " defines grid \"half_pixel\" only, got " + name(kGrids, s.grid),
                       "set sample.grid");
  if (s.fit == FitKind::kMatrix)
    return unsupported(profile + " resizes boxes: it does not define fit \"matrix\"",
                       "use \"stretch\" with a rect ROI, or profile \"exact\"");
  if ((s.fit == FitKind::kLetterbox && s.policy == Policy::kMediapipe) ||
      (s.fit == FitKind::kCrop && s.crop == CropPolicy::kOpencv))
    return unsupported(
        profile + " does not define this fit with policy " +
            (s.fit == FitKind::kCrop ? name(kCrops, s.crop) : name(kPolicies, s.policy)),
        "use another policy, or profile \"exact\"");
  if (s.border != BorderKind::kReplicate)
    return unsupported(profile + " sees nothing outside of the picture: border " +
                           name(kBorders, s.border) + " has no meaning",
                       "leave border out; bars of a letterbox have fit.pad");
  if (s.chroma != Chroma::kReplicate)
    return unsupported(profile + " does not define chroma \"linear\"", "use \"replicate\"");
  return ok();
}

}  // namespace

bool cv2_warps(const Spec& s) {
  return s.fit == FitKind::kMatrix || s.fit == FitKind::kCover ||
         (s.fit == FitKind::kLetterbox && s.policy == Policy::kMediapipe);
}

Result<Spec> parse_spec(std::string_view text) {
  FV_ASSIGN(const json::Value doc, json::parse(text, "pipeline spec"));
  FV_ASSIGN(const json::Object root, json::Object::of(doc, "pipeline spec"));
  FV_TRY(root.only({"imgproc", "size", "color", "orient", "roi", "fit", "sample", "profile",
                    "border", "yuv", "norm", "intermediate"}));
  int version = 1;
  if (const json::Value* v = root.find("imgproc"))
    if (v->type != json::Type::kNumber || v->number != 1)
      return root.error("imgproc", "version 1", v);
  FV_TRY(root.read_int("imgproc", 1, 1, version));

  Spec s;
  FV_TRY(read_size(root, s));
  FV_TRY(read_enum(root, "color", kColors, s.color));
  FV_TRY(read_orient(root, s));
  int roi = 0;
  FV_TRY(root.read_enum("roi", kRois, roi));
  s.roi_per_call = roi == 1;
  FV_TRY(read_fit(root, s));
  FV_TRY(read_sample(root, s));
  FV_TRY(read_enum(root, "profile", kProfiles, s.profile));
  FV_TRY(read_border(root, s));
  FV_TRY(read_yuv(root, s));
  FV_TRY(read_norm(root, s));
  FV_TRY(read_enum(root, "intermediate", kIntermediates, s.intermediate));

  if (s.fit == FitKind::kLetterbox && s.policy == Policy::kMediapipe && !s.pad.empty()) {
    if (s.pad != s.border_value)
      return Status(FV_SPEC_ERROR,
                    "pipeline spec: fit: key \"pad\": policy \"mediapipe\" fills its bars from "
                    "\"border\", got a different value",
                    "leave pad out and set border to {\"k\":\"constant\",\"v\":...}");
    s.pad.clear();
  }
  if (s.fit == FitKind::kMatrix && s.roi_per_call)
    return Status(FV_SPEC_ERROR,
                  "pipeline spec: key \"roi\": \"per_call\" contradicts fit \"matrix\"",
                  "the matrix already says what the tensor shows");
  if (s.fit == FitKind::kMatrix && s.flexible())
    return Status(
        FV_SPEC_ERROR,
        "pipeline spec: key \"size\": fit \"matrix\" shows no region that it could follow",
        "give [width, height]");
  s.json = canonical(s);
  s.digest = sha256_hex(s.json);
  return s;
}

Status check_supported(const Spec& s) {
  if (!has_profile(kFamilies[static_cast<size_t>(s.profile)]))
    return unsupported("profile " + name(kProfiles, s.profile) + " is not in this build",
                       "build Foveal with it in FOVEAL_PROFILES");
  if (is_cv2(s)) return check_cv2(s);
  if (is_pillow(s)) return check_pillow(s);
  FV_TRY(check_sampler(s));
  const bool blends = s.border == BorderKind::kReplicate || s.border == BorderKind::kConstant;
  if (!blends && s.chroma == Chroma::kLinear)
    return unsupported("border " + name(kBorders, s.border) +
                           " is not defined for linear chroma, whose samples lie between pixels",
                       "use \"replicate\" or \"constant\", or chroma \"replicate\"");
  if (s.fit == FitKind::kMatrix && s.grid != Grid::kHalfPixel)
    return unsupported("sample: grid " + name(kGrids, s.grid) +
                           " has no meaning with fit \"matrix\", whose coordinates are continuous",
                       "compose the shift into the matrix and use \"half_pixel\"");
  return ok();
}

}  // namespace foveal::imgproc
