#include "imgproc/frame.h"

#include <algorithm>
#include <cstddef>

namespace foveal::imgproc {
namespace {

constexpr FormatInfo kFormats[] = {
    {FV_RGB, "RGB", 1, {3}, false},     {FV_BGR, "BGR", 1, {3}, false},
    {FV_RGBA, "RGBA", 1, {4}, false},   {FV_BGRA, "BGRA", 1, {4}, false},
    {FV_GRAY, "GRAY", 1, {1}, false},   {FV_NV12, "NV12", 2, {1, 2}, true},
    {FV_NV21, "NV21", 2, {1, 2}, true}, {FV_I420, "I420", 3, {1, 1, 1}, true},
};

Status bad(const std::string& message, const char* hint = "") {
  return Status(FV_FRAME_ERROR, "frame: " + message, hint);
}

Status bad_plane(const FormatInfo& f, int plane, const std::string& message,
                 const char* hint = "") {
  return bad(format("%s plane %d: ", f.name, plane) + message, hint);
}

// A plane of w x h pixels whose pixels occupy `pixel_bytes`.
Status check_plane(const FormatInfo& f, int i, const fv_plane& p, int64_t w, int64_t h,
                   Channel& out) {
  const int64_t natural = f.pixel_bytes[i];
  const int64_t pixel = p.pixel_stride ? p.pixel_stride : natural;
  if (p.data == nullptr) return bad_plane(f, i, "data: expected an address, got NULL");
  if (pixel < natural || pixel > 64)
    return bad_plane(f, i,
                     format("pixel_stride: expected %lld..64 bytes, got %lld",
                            static_cast<long long>(natural), static_cast<long long>(pixel)));
  const int64_t used = (w - 1) * pixel + natural;  // bytes of a row that hold pixels
  const int64_t row = p.row_stride ? p.row_stride : w * pixel;
  if (row < used)
    return bad_plane(
        f, i,
        format("row_stride: expected at least %lld bytes (%lld pixels of %lld), got %lld",
               static_cast<long long>(used), static_cast<long long>(w),
               static_cast<long long>(pixel), static_cast<long long>(row)),
        row < 0 ? "bottom-up images: pass them with rotation 180 and mirror" : "");
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
  out.row = row;
  out.pixel = pixel;
  return ok();
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
  if (frame.plane_count != f->planes)
    return bad(format("planes: %s has %d, got %d", f->name, f->planes, frame.plane_count));

  Source s;
  s.width = frame.width;
  s.height = frame.height;
  const int64_t half_w = (s.width + 1) / 2, half_h = (s.height + 1) / 2;
  Channel plane[3];
  for (int i = 0; i < f->planes; ++i) {
    const bool chroma = f->yuv && i > 0;
    FV_TRY(check_plane(*f, i, frame.planes[i], chroma ? half_w : s.width,
                       chroma ? half_h : s.height, plane[i]));
    plane[i].shift = chroma ? 1 : 0;
  }
  const auto offset = [](Channel c, int bytes) {
    c.data += bytes;
    return c;
  };
  s.channels = 3;
  const auto group = [&](int first, int count, int plane_index) {
    Group g{first, count, first, 0};
    const uint8_t* highest = s.channel[first].data;
    for (int c = first; c < first + count; ++c) {
      if (s.channel[c].data < s.channel[g.lowest].data) g.lowest = c;
      if (s.channel[c].data > highest) highest = s.channel[c].data;
    }
    g.bytes = static_cast<int>(highest - s.channel[g.lowest].data) + 1;
    const fv_plane& p = frame.planes[plane_index];
    g.readable = static_cast<int64_t>(std::min<uint64_t>(p.bytes, INT64_MAX)) -
                 (s.channel[g.lowest].data - static_cast<const uint8_t*>(p.data));
    s.group[s.groups++] = g;
  };
  switch (f->id) {
    case FV_GRAY:
      s.family = Family::kGray;
      s.channels = 1;
      s.channel[0] = plane[0];
      group(0, 1, 0);
      break;
    case FV_RGB:
    case FV_RGBA:
      for (int c = 0; c < 3; ++c) s.channel[c] = offset(plane[0], c);
      group(0, 3, 0);
      break;
    case FV_BGR:
    case FV_BGRA:
      for (int c = 0; c < 3; ++c) s.channel[c] = offset(plane[0], 2 - c);
      group(0, 3, 0);
      break;
    case FV_I420:
      s.family = Family::kYuv;
      for (int c = 0; c < 3; ++c) {
        s.channel[c] = plane[c];
        group(c, 1, c);
      }
      break;
    default: {  // NV12, NV21
      const int u = f->id == FV_NV12 ? 0 : 1;
      s.family = Family::kYuv;
      s.channel[0] = plane[0];
      s.channel[1] = offset(plane[1], u);
      s.channel[2] = offset(plane[1], 1 - u);
      group(0, 1, 0);
      group(1, 2, 1);
    }
  }
  return s;
}

}  // namespace foveal::imgproc
