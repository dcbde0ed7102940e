#include "imgproc/frame.h"

#include <algorithm>
#include <cstddef>

namespace foveal::imgproc {
namespace {

using enum Family;
using enum Element;

constexpr FormatInfo packed(fv_pixel_format id, const char* name, Element element, float unit,
                            int8_t elements, bool bgr) {
  const int8_t r = bgr ? 2 : 0, b = bgr ? 0 : 2;
  return {id,
          name,
          kRgb,
          element,
          unit,
          1,
          {{elements, 0, 0}},
          {{0, r, 0, 0}, {0, 1, 0, 0}, {0, b, 0, 0}}};
}
constexpr FormatInfo gray(fv_pixel_format id, const char* name, Element element, float unit,
                          int8_t elements) {
  return {id, name, kGray, element, unit, 1, {{elements, 0, 0}}, {{0, 0, 0, 0}}};
}
// Planes Y, U and V, or Y, V and U.
constexpr FormatInfo planar(fv_pixel_format id, const char* name, Element element, float unit,
                            int8_t sx, int8_t sy, bool v_first = false) {
  const int8_t u = v_first ? 2 : 1, v = v_first ? 1 : 2;
  return {id,
          name,
          kYuv,
          element,
          unit,
          3,
          {{1, 0, 0}, {1, sx, sy}, {1, sx, sy}},
          {{0, 0, 0, 0}, {u, 0, sx, sy}, {v, 0, sx, sy}}};
}
// Planes Y and UV, or Y and VU.
constexpr FormatInfo paired(fv_pixel_format id, const char* name, Element element, float unit,
                            int8_t sx, int8_t sy, bool v_first = false) {
  const int8_t u = v_first ? 1 : 0, v = v_first ? 0 : 1;
  return {id,
          name,
          kYuv,
          element,
          unit,
          2,
          {{1, 0, 0}, {2, sx, sy}},
          {{0, 0, 0, 0}, {1, u, sx, sy}, {1, v, sx, sy}}};
}
// Two pixels in four elements.
constexpr FormatInfo pairs(fv_pixel_format id, const char* name, int8_t y, int8_t u, int8_t v) {
  return {id, name, kYuv, kU8, 1, 1, {{4, 1, 0}}, {{0, y, 0, 0}, {0, u, 1, 0}, {0, v, 1, 0}}};
}

constexpr float k16 = 1 / 257.0f;    // 65535 is 255
constexpr float kHigh = 1 / 256.0f;  // 10 bits at the top of 16, four codes per 8-bit code
constexpr float kLow = 0.25f;        // 10 bits at the bottom

constexpr FormatInfo kFormats[] = {
    packed(FV_RGB, "RGB", kU8, 1, 3, false),
    packed(FV_BGR, "BGR", kU8, 1, 3, true),
    packed(FV_RGBA, "RGBA", kU8, 1, 4, false),
    packed(FV_BGRA, "BGRA", kU8, 1, 4, true),
    gray(FV_GRAY, "GRAY", kU8, 1, 1),
    paired(FV_NV12, "NV12", kU8, 1, 1, 1),
    paired(FV_NV21, "NV21", kU8, 1, 1, 1, true),
    planar(FV_I420, "I420", kU8, 1, 1, 1),
    gray(FV_GRAY_ALPHA, "GRAY_ALPHA", kU8, 1, 2),
    packed(FV_RGB16, "RGB16", kU16, k16, 3, false),
    packed(FV_BGR16, "BGR16", kU16, k16, 3, true),
    gray(FV_GRAY16, "GRAY16", kU16, k16, 1),
    packed(FV_RGBF32, "RGBF32", kF32, 255, 3, false),
    packed(FV_BGRF32, "BGRF32", kF32, 255, 3, true),
    gray(FV_GRAYF32, "GRAYF32", kF32, 255, 1),
    planar(FV_YV12, "YV12", kU8, 1, 1, 1, true),
    paired(FV_NV16, "NV16", kU8, 1, 1, 0),
    paired(FV_NV61, "NV61", kU8, 1, 1, 0, true),
    planar(FV_I422, "I422", kU8, 1, 1, 0),
    planar(FV_I444, "I444", kU8, 1, 0, 0),
    pairs(FV_YUYV, "YUYV", 0, 1, 3),
    pairs(FV_UYVY, "UYVY", 1, 0, 2),
    paired(FV_P010, "P010", kU16, kHigh, 1, 1),
    planar(FV_I010, "I010", kU16, kLow, 1, 1),
};

Status bad(const std::string& message, const char* hint = "") {
  return Status(FV_FRAME_ERROR, "frame: " + message, hint);
}

Status bad_plane(const FormatInfo& f, int plane, const std::string& message,
                 const char* hint = "") {
  return bad(format("%s plane %d: ", f.name, plane) + message, hint);
}

// A plane as its format's blocks lie in it; row and pixel count elements.
struct Plane {
  const uint8_t* data = nullptr;
  int64_t row = 0, pixel = 0, readable = 0;
};

Status check_plane(const FormatInfo& f, int i, const fv_plane& p, int width, int height,
                   Plane& out) {
  const FormatInfo::PlaneInfo& info = f.plane[i];
  const int64_t size = f.bytes();
  const int64_t w = (width + (1 << info.shift_x) - 1) >> info.shift_x;
  const int64_t h = (height + (1 << info.shift_y) - 1) >> info.shift_y;
  // Of packed 4:2:2, a pixel is half a block, and blocks are adjacent.
  const bool pairs = f.family == kYuv && f.planes == 1;
  const int64_t natural = info.elements * size;
  const int64_t pixel = pairs || !p.pixel_stride ? natural : p.pixel_stride;
  if (p.data == nullptr) return bad_plane(f, i, "data: expected an address, got NULL");
  if (reinterpret_cast<uintptr_t>(p.data) % static_cast<uintptr_t>(size))
    return bad_plane(
        f, i,
        format("data: expected an address that is a multiple of %d, got %p", f.bytes(), p.data),
        "16-bit and float planes are read as such; copy the plane");
  if (pairs && p.pixel_stride && p.pixel_stride != natural / 2)
    return bad_plane(
        f, i,
        format("pixel_stride: expected %lld bytes (or 0), got %lld",
               static_cast<long long>(natural / 2), static_cast<long long>(p.pixel_stride)));
  if (pixel < natural || pixel > 64)
    return bad_plane(f, i,
                     format("pixel_stride: expected %lld..64 bytes, got %lld",
                            static_cast<long long>(natural), static_cast<long long>(pixel)));
  const int64_t used = (w - 1) * pixel + natural;  // bytes of a row that hold pixels
  const int64_t row = p.row_stride ? p.row_stride : w * pixel;
  if (row < used)
    return bad_plane(f, i,
                     format("row_stride: expected at least %lld bytes (%lld %s of %lld), got %lld",
                            static_cast<long long>(used), static_cast<long long>(w),
                            pairs ? "pairs of pixels" : "pixels", static_cast<long long>(pixel),
                            static_cast<long long>(row)),
                     row < 0 ? "bottom-up images: pass them with rotation 180 and mirror" : "");
  for (const auto& [name, stride] : {std::pair{"pixel_stride", pixel}, {"row_stride", row}})
    if (stride % size)
      return bad_plane(f, i,
                       format("%s: expected a multiple of %d bytes, got %lld", name, f.bytes(),
                              static_cast<long long>(stride)));
  int64_t need;
  if (__builtin_mul_overflow(h - 1, row, &need) || __builtin_add_overflow(need, used, &need) ||
      need > INT32_MAX)
    return bad_plane(f, i,
                     format("row_stride: %lld rows of %lld bytes exceed 2 GiB",
                            static_cast<long long>(h), static_cast<long long>(row)));
  if (p.bytes < static_cast<uint64_t>(need))
    return bad_plane(f, i,
                     format("byte_len: expected at least %lld (%lld rows of %lld bytes, the last "
                            "may be short), got %llu",
                            static_cast<long long>(need), static_cast<long long>(h),
                            static_cast<long long>(row), static_cast<unsigned long long>(p.bytes)),
                     "check width, height and row_stride against the buffer");
  out.data = static_cast<const uint8_t*>(p.data);
  out.row = row / size;
  out.pixel = pixel / size;
  out.readable = static_cast<int64_t>(std::min<uint64_t>(p.bytes, INT64_MAX)) / size;
  return ok();
}

// x, y, width, height; older callers' frames end before it.
Status read_visible(const fv_frame& frame, int32_t out[4]) {
  static constexpr const char* kNames[] = {"x", "y", "width", "height"};
  out[0] = out[1] = 0;
  out[2] = frame.width;
  out[3] = frame.height;
  if (frame.abi.struct_size < offsetof(fv_frame, visible) + sizeof frame.visible) return ok();
  const int32_t* v = frame.visible;
  if (!v[0] && !v[1] && !v[2] && !v[3]) return ok();
  for (int i = 0; i < 2; ++i) {
    const int64_t side = i ? frame.height : frame.width;
    if (v[i] < 0 || v[i] >= side)
      return bad(format("visible: %s: expected 0..%lld, got %d", kNames[i],
                        static_cast<long long>(side - 1), v[i]));
    if (v[2 + i] < 1 || v[i] + static_cast<int64_t>(v[2 + i]) > side)
      return bad(format("visible: %s: expected 1..%lld pixels from %s %d on, got %d", kNames[2 + i],
                        static_cast<long long>(side - v[i]), kNames[i], v[i], v[2 + i]));
  }
  std::copy_n(v, 4, out);
  return ok();
}

// Channels [first, first + count): those of one pixel, wherever the planes came from.
void add_group(Source& s, int first, int count, const uint8_t* end) {
  Group g{first, count, first, 0, 0};
  const uint8_t* highest = s.channel[first].data;
  for (int c = first; c < first + count; ++c) {
    if (s.channel[c].data < s.channel[g.lowest].data) g.lowest = c;
    highest = std::max(highest, s.channel[c].data);
  }
  const uint8_t* lowest = s.channel[g.lowest].data;
  g.span = static_cast<int>((highest - lowest) / s.size) + 1;
  g.readable = (end - lowest) / s.size;
  s.group[s.groups++] = g;
}

// Whether two channels are neighbours in one buffer: interleaved chroma, however it was described.
bool neighbours(const Source& s, const Channel& a, const Channel& b) {
  const auto from = reinterpret_cast<uintptr_t>(a.data), to = reinterpret_cast<uintptr_t>(b.data);
  const auto size = static_cast<uintptr_t>(s.size);
  return (from + size == to || to + size == from) && a.row == b.row && a.pixel == b.pixel &&
         a.pixel >= 2;
}

}  // namespace

const FormatInfo* format_info(fv_pixel_format format) {
  for (const FormatInfo& f : kFormats)
    if (f.id == format) return &f;
  return nullptr;
}

Result<Source> open_frame(const fv_frame& frame) {
  if (frame.abi.struct_size < offsetof(fv_frame, planes) + sizeof frame.planes)
    return bad(format("abi.struct_size: expected at least %zu, got %u",
                      offsetof(fv_frame, planes) + sizeof frame.planes, frame.abi.struct_size),
               "initialise abi with FV_ABI_INIT(fv_frame)");
  const FormatInfo* f = format_info(frame.format);
  if (!f) return bad(format("format: unknown value %d", frame.format));
  const int side[2] = {frame.width, frame.height};
  for (int i = 0; i < 2; ++i)
    if (side[i] < 1 || side[i] > kMaxSide)
      return bad(
          format("%s: expected 1..%d pixels, got %d", i ? "height" : "width", kMaxSide, side[i]));
  if (frame.rotation != 0 && frame.rotation != 90 && frame.rotation != 180 && frame.rotation != 270)
    return bad(
        format("rotation: expected 0, 90, 180 or 270 clockwise degrees, got %d", frame.rotation));
  if (frame.mirror != 0 && frame.mirror != 1)
    return bad(format("mirror: expected 0 or 1, got %d", frame.mirror));
  if (frame.matrix < FV_MATRIX_UNKNOWN || frame.matrix > FV_BT2020)
    return bad(format("matrix: unknown value %d", frame.matrix));
  if (frame.range < FV_RANGE_UNKNOWN || frame.range > FV_FULL)
    return bad(format("range: unknown value %d", frame.range));
  Source s;
  if (frame.abi.struct_size >= offsetof(fv_frame, siting) + sizeof frame.siting)
    s.siting = frame.siting;
  if (s.siting < FV_SITING_UNKNOWN || s.siting > FV_SITING_TOP_LEFT)
    return bad(format("siting: unknown value %d", s.siting));
  if (frame.plane_count != f->planes)
    return bad(format("planes: %s has %d, got %d", f->name, f->planes, frame.plane_count));
  int32_t visible[4];
  FV_TRY(read_visible(frame, visible));
  Plane plane[3];
  for (int i = 0; i < f->planes; ++i)
    FV_TRY(check_plane(*f, i, frame.planes[i], frame.width, frame.height, plane[i]));

  s.family = f->family;
  s.element = f->element;
  s.size = f->bytes();
  s.unit = f->unit;
  s.deep = f->family == kYuv && f->element == kU16;
  s.width = visible[2];
  s.height = visible[3];
  s.channels = f->family == kGray ? 1 : 3;
  const uint8_t* end[3] = {};
  for (int c = 0; c < s.channels; ++c) {
    const FormatInfo::Component& m = f->component[c];
    const Plane& p = plane[m.plane];
    Channel& ch = s.channel[c];
    ch.shift_x = m.shift_x;
    ch.shift_y = m.shift_y;
    ch.odd_x = visible[0] & ((1 << m.shift_x) - 1);
    ch.odd_y = visible[1] & ((1 << m.shift_y) - 1);
    ch.row = p.row;
    ch.pixel = p.pixel >> (f->plane[m.plane].shift_x - m.shift_x);
    ch.data = p.data + ((visible[1] >> m.shift_y) * ch.row + (visible[0] >> m.shift_x) * ch.pixel +
                        m.offset) *
                           s.size;
    end[c] = p.data + p.readable * s.size;
  }
  if (s.family == kRgb) {
    add_group(s, 0, 3, end[0]);
  } else {
    add_group(s, 0, 1, end[0]);
    if (s.family == kYuv && neighbours(s, s.channel[1], s.channel[2])) {
      add_group(s, 1, 2, std::max(end[1], end[2]));
    } else if (s.family == kYuv) {
      add_group(s, 1, 1, end[1]);
      add_group(s, 2, 1, end[2]);
    }
  }
  return s;
}

}  // namespace foveal::imgproc
