#include "imgproc/draw/canvas.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "imgproc/frame.h"

namespace foveal::imgproc {
namespace {

uint8_t byte(double v) { return static_cast<uint8_t>(std::lround(std::clamp(v, 0.0, 255.0))); }

uint8_t mixed(uint8_t from, uint8_t to, double cover) {
  return static_cast<uint8_t>(static_cast<int>(from + (to - from) * cover + 0.5));
}

// Y, U, V of a colour, from kr and kb.
void to_yuv(const fv_canvas& c, int r, int g, int b, uint8_t out[3]) {
  const double kr = c.matrix == FV_BT601 ? 0.299 : c.matrix == FV_BT709 ? 0.2126 : 0.2627;
  const double kb = c.matrix == FV_BT601 ? 0.114 : c.matrix == FV_BT709 ? 0.0722 : 0.0593;
  const bool limited = c.range == FV_LIMITED;
  const double y = kr * r + (1 - kr - kb) * g + kb * b, chroma = limited ? 224.0 / 255 : 1;
  out[0] = byte(limited ? 16 + y * 219 / 255 : y);
  out[1] = byte(128 + chroma * (b - y) / (2 * (1 - kb)));
  out[2] = byte(128 + chroma * (r - y) / (2 * (1 - kr)));
}

}  // namespace

void Reach::add_segment(double x0, double y0, double x1, double y1, double lo, double hi) {
  if (std::max(y0, y1) < lo || std::min(y0, y1) > hi) return;
  for (const double line : {lo, hi}) {
    const double t = y0 == y1 ? (line == lo ? 0 : 1) : (line - y0) / (y1 - y0);
    const double x = x0 + std::clamp(t, 0.0, 1.0) * (x1 - x0);
    add({x, x});
  }
}

Result<Canvas> Canvas::open(const fv_canvas* c, fv_rgb color) {
  if (!c) return Status(FV_INVALID_ARGUMENT, "draw: canvas is NULL");
  const bool yuv = c->format == FV_NV12 || c->format == FV_NV21;
  if (c->format > FV_GRAY && !yuv)
    return Status(FV_FRAME_ERROR,
                  "draw: canvas: expected RGB, BGR, RGBA, BGRA, GRAY, NV12 or NV21");
  fv_frame frame{};
  frame.abi = FV_ABI_INIT(fv_frame);
  frame.format = c->format;
  frame.width = c->width;
  frame.height = c->height;
  frame.plane_count = yuv ? 2 : 1;
  frame.planes[0] = {c->data, c->bytes, c->row_stride, 0};
  if (yuv) {
    frame.planes[1] = {c->chroma, c->chroma_bytes, c->chroma_row_stride, 0};
    if (c->matrix < FV_BT601 || c->matrix > FV_BT2020 || c->range < FV_LIMITED ||
        c->range > FV_FULL)
      return Status(FV_FRAME_ERROR,
                    "draw: canvas: the matrix and the range of its colours are "
                    "unknown",
                    "say which ones the camera uses");
  }
  Result<Source> source = open_frame(frame);
  if (!source.ok()) return std::move(source.status()).within("draw");
  const Source& s = source.value();
  Canvas out;
  out.data_ = static_cast<uint8_t*>(c->data);
  out.row_ = s.channel[0].row;
  out.pixel_ = s.channel[0].pixel;
  out.width_ = s.width;
  out.height_ = s.height;
  out.channels_ = 1;
  const int r = color >> 16 & 255, g = color >> 8 & 255, b = color & 255;
  if (yuv) {
    out.chroma_ = static_cast<uint8_t*>(c->chroma);
    out.chroma_row_ = s.channel[1].row;
    to_yuv(*c, r, g, b, out.color_);
    if (c->format == FV_NV21) std::swap(out.color_[1], out.color_[2]);
  } else if (s.family == Family::kGray) {
    out.color_[0] = static_cast<uint8_t>((299 * r + 587 * g + 114 * b + 500) / 1000);
  } else {
    const bool bgr = c->format == FV_BGR || c->format == FV_BGRA;
    const int order[3] = {bgr ? b : r, g, bgr ? r : b};
    for (int i = 0; i < 3; ++i) out.color_[i] = static_cast<uint8_t>(order[i]);
    out.channels_ = 3;
  }
  return out;
}

void Canvas::span(int64_t x0, int64_t x1, int64_t y) const {
  if (y < 0 || y >= height_) return;
  x0 = std::max<int64_t>(x0, 0);
  x1 = std::min<int64_t>(x1, width_);
  uint8_t* p = data_ + y * row_ + x0 * pixel_;
  for (; x0 < x1; ++x0, p += pixel_)
    for (int c = 0; c < channels_; ++c) p[c] = color_[c];
}

void Canvas::fill(int64_t x0, int64_t y0, int64_t x1, int64_t y1) const {
  y1 = std::min<int64_t>(y1, height_);
  for (y0 = std::max<int64_t>(y0, 0); y0 < y1; ++y0) span(x0, x1, y0);
}

template <int kChannels>
void Canvas::mix_pixels(uint8_t* p, int n, const double* cover) const {
  uint8_t to[kChannels];
  std::copy_n(color_, kChannels, to);
  for (int i = 0; i < n; ++i, p += pixel_) {
    if (cover[i] == 1)
      for (int c = 0; c < kChannels; ++c) p[c] = to[c];
    else if (cover[i] > 0)
      for (int c = 0; c < kChannels; ++c) p[c] = mixed(p[c], to[c], cover[i]);
  }
}

void Canvas::mix(int y, int left, int right, const double* cover) const {
  uint8_t* p = data_ + y * row_ + left * pixel_;
  (this->*(channels_ == 1 ? &Canvas::mix_pixels<1> : &Canvas::mix_pixels<3>))(p, right - left,
                                                                              cover);
}

void Canvas::mix_chroma(int y, int left, int right, const double* above,
                        const double* below) const {
  uint8_t* p = chroma_ + (y >> 1) * chroma_row_ + (left & ~1);
  for (int x = left; x < right; x += 2, p += 2) {
    double sum = 0;
    int pixels = 0;
    for (int i = x - left; i < std::min(x + 2, right) - left; ++i) {
      sum += above[i] + (below ? below[i] : 0);
      pixels += below ? 2 : 1;
    }
    if (sum > 0)
      for (int i = 0; i < 2; ++i) p[i] = mixed(p[i], color_[1 + i], sum / pixels);
  }
}

}  // namespace foveal::imgproc
