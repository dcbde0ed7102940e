// Segmentation networks: one channel of a picture of classes, brought back to the upright frame.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "imgproc/decode/decoder.h"

namespace foveal::imgproc {
namespace {

constexpr std::string_view kActivations[] = {"none", "sigmoid", "softmax"};
constexpr std::string_view kLayouts[] = {"nhwc", "nchw"};
constexpr int64_t kMaxSide = 16384;  // of the mask that the network gives
enum Activation { kNone, kSigmoid, kSoftmax };

// 0 for what is not a number.
float unit(float v) { return v >= 0 ? std::min(v, 1.0f) : 0; }

// One output's channel after its activation, with a row and a column of zeros behind the last, so
// that a second tap of weight 0 may be read.
struct Plane {
  int64_t width, height, stride;
  std::vector<float> data;
};

// One axis of the mask: position = scale * tensor - 0.5, kept between the first and the last pixel
// whose centre shows the region, so that bars are not blended in.
struct Axis {
  double scale;
  float lo, hi;

  Axis(int64_t size, int tensor, double from, double to)
      : scale(static_cast<double>(size) / tensor) {
    const double last = static_cast<double>(size - 1);
    const double first = std::clamp(std::ceil(from * scale - 0.5), 0.0, last);
    lo = static_cast<float>(first);
    hi = static_cast<float>(std::clamp(std::ceil(to * scale - 0.5) - 1, first, last));
  }
  // lo for what is not a number.
  float clamp(float at) const { return at > lo ? std::min(at, hi) : lo; }
};

class Mask : public Decoder {
 public:
  std::string output;
  int channel = 0, activation = kNone, layout = 0;

  fv_decoder_result gives() const override { return FV_MASK; }
  int most() const override { return 0; }

  Status run_mask(const Outputs& outputs, const fv_transform& t,
                  const MaskReport& out) const override {
    Plane plane;
    FV_TRY(read(outputs, plane));
    const Axis ax(plane.width, t.tensor_width, t.valid[0], t.valid[2]);
    const Axis ay(plane.height, t.tensor_height, t.valid[1], t.valid[3]);
    Mat3 m;
    std::memcpy(m.m, t.from_upright, sizeof m.m);
    if (m.m[6] == 0 && m.m[7] == 0)  // an inverse: its last element is 1 but for rounding
      for (double& v : m.m) v /= t.from_upright[8];
    if (!m.affine())
      projective(plane, ax, ay, m, t.valid, out);
    else if (m.m[1] == 0 && m.m[3] == 0)
      straight(plane, ax, ay, m, t.valid, out);
    else
      affine(plane, ax, ay, m, t.valid, out);
    return ok();
  }

  std::string json() const override {
    using json::quote;
    return "\"output\":" + quote(output) + ",\"channel\":" + std::to_string(channel) +
           ",\"activation\":" + quote(kActivations[static_cast<size_t>(activation)]) +
           ",\"layout\":" + quote(kLayouts[static_cast<size_t>(layout)]);
  }

 private:
  Status read(const Outputs& outputs, Plane& p) const {
    const float* data;
    std::vector<int64_t> dims;
    FV_TRY(outputs.get(output, {-1, -1, -1}, data, dims));
    const bool last = layout == 0;
    const int64_t channels = dims[last ? 2 : 0];
    p.height = dims[last ? 0 : 1];
    p.width = dims[last ? 1 : 2];
    if (channel >= channels || (activation == kSoftmax && channels < 2))
      return Status(FV_SHAPE_ERROR,
                    format("decoder: output '%s': expected more than %d channels (%s), got %lld",
                           output.c_str(), channel >= channels ? channel : 1,
                           last ? "its last dimension" : "its first but one dimension",
                           static_cast<long long>(channels)));
    if (std::max(p.width, p.height) > kMaxSide)
      return Status(FV_SHAPE_ERROR,
                    format("decoder: output '%s': expected at most %lld pixels a side",
                           output.c_str(), static_cast<long long>(kMaxSide)));
    const int64_t pixel = last ? channels : 1, step = last ? 1 : p.width * p.height;
    p.stride = p.width + 1;
    p.data.assign(static_cast<size_t>(p.stride * (p.height + 1)), 0);
    for (int64_t y = 0; y < p.height; ++y)
      for (int64_t x = 0; x < p.width; ++x)
        p.data[static_cast<size_t>(y * p.stride + x)] =
            value(data + (y * p.width + x) * pixel, channels, step);
    return ok();
  }

  // Of one pixel of the output, whose channels lie `step` apart.
  float value(const float* v, int64_t channels, int64_t step) const {
    const float own = v[channel * step];
    if (activation == kNone) return unit(own);
    if (activation == kSigmoid) return unit(1 / (1 + std::exp(-own)));
    float most = own, sum = 0;
    for (int64_t c = 0; c < channels; ++c) most = std::max(most, v[c * step]);
    for (int64_t c = 0; c < channels; ++c) sum += std::exp(v[c * step] - most);
    return unit(std::exp(own - most) / sum);
  }

  static bool inside(const double valid[4], double u, double v) {
    return u >= valid[0] && u < valid[2] && v >= valid[1] && v < valid[3];
  }

  static float sample(const Plane& p, float x, float y) {
    const int i = static_cast<int>(x), j = static_cast<int>(y);
    const float fx = x - static_cast<float>(i), fy = y - static_cast<float>(j);
    const float* top = p.data.data() + j * p.stride + i;
    const float* below = top + p.stride;
    const float a = top[0] + (top[1] - top[0]) * fx, b = below[0] + (below[1] - below[0]) * fx;
    return a + (b - a) * fy;
  }

  // Frame columns [begin, end) of row y whose centres show the region: those where both
  // coordinates, linear in x, are inside. The ends are settled by `inside` itself.
  static void span(const Mat3& m, double y, const double valid[4], int width, int& begin,
                   int& end) {
    double lo = 0, hi = width;
    const auto at = [&](int x, double& u, double& v) {
      u = m.m[0] * (x + 0.5) + m.m[1] * y + m.m[2];
      v = m.m[3] * (x + 0.5) + m.m[4] * y + m.m[5];
    };
    for (int a = 0; a < 2; ++a) {
      const double slope = m.m[3 * a], start = m.m[3 * a + 1] * y + m.m[3 * a + 2];
      if (slope == 0) {
        if (!(start >= valid[a] && start < valid[2 + a])) lo = hi;
        continue;
      }
      const double one = (valid[a] - start) / slope - 0.5,
                   two = (valid[2 + a] - start) / slope - 0.5;
      lo = std::max(lo, std::min(one, two));
      hi = std::min(hi, std::max(one, two) + 1);
    }
    begin = end = 0;
    if (!(lo < hi)) return;
    begin = static_cast<int>(lo);
    end = static_cast<int>(std::ceil(hi));
    double u, v;
    while (begin < end && (at(begin, u, v), !inside(valid, u, v))) ++begin;
    while (begin < end && (at(end - 1, u, v), !inside(valid, u, v))) --end;
  }

  // Axis-aligned: taps of the columns are the same in every row, and a row is one blend of two.
  static void straight(const Plane& p, const Axis& ax, const Axis& ay, const Mat3& m,
                       const double valid[4], const MaskReport& out) {
    const size_t width = static_cast<size_t>(out.width);
    std::vector<int> index(width);
    std::vector<float> weight(width), row(static_cast<size_t>(p.stride));
    for (size_t x = 0; x < width; ++x) {
      const double u = m.m[0] * (static_cast<double>(x) + 0.5) + m.m[2];
      const float at = ax.clamp(static_cast<float>(u * ax.scale - 0.5));
      index[x] = static_cast<int>(at);
      weight[x] = at - static_cast<float>(index[x]);
    }
    for (int y = 0; y < out.height; ++y) {
      float* to = out.values + int64_t{y} * out.width;
      int begin, end;
      span(m, y + 0.5, valid, out.width, begin, end);
      std::fill(to, to + begin, 0.0f);
      std::fill(to + end, to + out.width, 0.0f);
      if (begin == end) continue;
      const double v = m.m[4] * (y + 0.5) + m.m[5];
      const float at = ay.clamp(static_cast<float>(v * ay.scale - 0.5));
      const int j = static_cast<int>(at);
      const float f = at - static_cast<float>(j);
      const float* top = p.data.data() + j * p.stride;
      const float* below = top + p.stride;
      for (int64_t i = 0; i < p.stride; ++i)
        row[static_cast<size_t>(i)] = top[i] + (below[i] - top[i]) * f;
      for (int x = begin; x < end; ++x) {
        const float* tap = row.data() + index[static_cast<size_t>(x)];
        to[x] = tap[0] + (tap[1] - tap[0]) * weight[static_cast<size_t>(x)];
      }
    }
  }

  static void affine(const Plane& p, const Axis& ax, const Axis& ay, const Mat3& m,
                     const double valid[4], const MaskReport& out) {
    const float dx = static_cast<float>(m.m[0] * ax.scale);
    const float dy = static_cast<float>(m.m[3] * ay.scale);
    for (int y = 0; y < out.height; ++y) {
      float* to = out.values + int64_t{y} * out.width;
      int begin, end;
      span(m, y + 0.5, valid, out.width, begin, end);
      std::fill(to, to + begin, 0.0f);
      std::fill(to + end, to + out.width, 0.0f);
      // From the first column inside, so that floats count small steps from a small start.
      const double u = m.m[0] * (begin + 0.5) + m.m[1] * (y + 0.5) + m.m[2];
      const double v = m.m[3] * (begin + 0.5) + m.m[4] * (y + 0.5) + m.m[5];
      const float x0 = static_cast<float>(u * ax.scale - 0.5);
      const float y0 = static_cast<float>(v * ay.scale - 0.5);
      for (int x = begin; x < end; ++x) {
        const float step = static_cast<float>(x - begin);
        to[x] = sample(p, ax.clamp(x0 + dx * step), ay.clamp(y0 + dy * step));
      }
    }
  }

  static void projective(const Plane& p, const Axis& ax, const Axis& ay, const Mat3& m,
                         const double valid[4], const MaskReport& out) {
    for (int y = 0; y < out.height; ++y)
      for (int x = 0; x < out.width; ++x) {
        double u = x + 0.5, v = y + 0.5;
        const bool shown = m.map(u, v) && inside(valid, u, v);
        out.values[int64_t{y} * out.width + x] =
            shown ? sample(p, ax.clamp(static_cast<float>(u * ax.scale - 0.5)),
                           ay.clamp(static_cast<float>(v * ay.scale - 0.5)))
                  : 0;
      }
  }
};

}  // namespace

MadeDecoder make_mask(const json::Object& o) {
  FV_TRY(o.only({"decoder", "kind", "output", "channel", "activation", "layout"}));
  auto d = std::make_unique<Mask>();
  FV_TRY(read_output(o, "output", d->output));
  FV_TRY(o.read_int("channel", 0, 65535, d->channel));
  FV_TRY(o.read_enum("activation", kActivations, d->activation));
  FV_TRY(o.read_enum("layout", kLayouts, d->layout));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
