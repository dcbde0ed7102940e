#include "common/conv_tiles.h"

#include <numeric>

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

constexpr int64_t kBandBytes = 256 << 10;  // of input: stays in L2 beside the output and weights
constexpr int kMinBandRows = 4;            // below, copied rows overlap too much

}  // namespace

Status ConvTiles::prepare(const Context& c, const Node& node, const ConvShape& shape,
                          std::vector<ConvPhase> phases, const ConvWeights& weights,
                          const char* kind) {
  s_ = shape;
  const Value x = node.input(0), out = node.output(0);
  x_ = Input(x);
  y_ = out.slot();
  threads_ = std::max(1, c.threads());

  // Merge groups until both sides begin at a block boundary.
  const int real_in = s_.in_c / s_.group, real_out = s_.out_c / s_.group;
  auto needed = [](int channels) { return kLanes / std::gcd(kLanes, channels); };
  merged_ = std::min(s_.group, std::lcm(needed(real_in), needed(real_out)));
  groups_ = static_cast<int>(ceil_div(s_.group, merged_));
  group_in_ = merged_ * real_in;
  group_out_ = merged_ * real_out;

  tail_ = FusedTail::find(node, out);
  FV_ASSIGN(posts_, Posts::make(node, out, tail_.posts));
  bias_ = Floats64(static_cast<size_t>(ceil_div(s_.out_c, kLanes) + 4) * kLanes);
  if (!bias_.data()) return no_memory();
  w_ = weights;
  w_input_ = Input(weights.value);
  if (const Value b = node.input(2)) {
    bias_input_ = Input(b);
    bias_computed_ = !b.is_constant();
    if (b.is_constant())
      std::memcpy(bias_.data(), b.constant<float>(), static_cast<size_t>(s_.out_c) * 4);
  }

  for (ConvPhase& from : phases) {
    Phase p;
    static_cast<ConvPhase&>(p) = std::move(from);
    if (p.rows <= 0 || p.cols <= 0) continue;
    posts_last_ = posts_last_ || (p.step_x != 1 && !posts_.empty());
    plan(p);
    const int64_t lanes = s_.plain_input ? 1 : kLanes;
    if (!p.direct) {
      const int64_t rows = (p.band_rows - 1) * p.row_step + p.row_span;
      const int64_t blocks = s_.plain_input ? group_in_ : ceil_div(group_in_, kLanes);
      const int64_t floats =
          blocks * rows * static_cast<int64_t>(p.columns.size()) * p.width * lanes;
      scratch_floats_ = std::max(scratch_floats_, (floats + 63) / 64 * 64);
    }
    if (scratch_floats_ > (int64_t{1} << 28))
      return unsupported("input rows are too long for this kernel");
    std::string key = format("%s %s g%d m%d %s", FV_ISA_NAME, kind, s_.group, merged_,
                             s_.plain_input ? "plain" : "blocked");
    for (const ConvTap& t : p.taps) key += ' ' + std::to_string(t.index);
    const int64_t floats = std::max<int64_t>(1, groups_ * group_floats(p));
    if (weights.value.is_constant()) {
      p.weights = static_cast<const float*>(
          c.packed(weights.value, key, static_cast<size_t>(floats) * 4, [&](void* dst) {
            for (int g = 0; g < groups_; ++g)
              pack_group(p, weights.value.constant<float>(), g, static_cast<float*>(dst));
          }));
      if (!p.weights) return no_memory();
    } else {  // packed at every run, into the workspace behind the scratch of the threads
      p.packed_at = computed_floats_;
      computed_floats_ += (floats + 15) / 16 * 16;
    }
    phases_.push_back(std::move(p));
  }
  return ok();
}

void ConvTiles::plan(Phase& p) const {
  const int lanes = s_.plain_input ? 1 : kLanes;
  int max_dy = 0, max_dx = 0;
  if (!p.taps.empty()) {
    p.min_dy = max_dy = p.taps[0].dy;
    p.min_dx = max_dx = p.taps[0].dx;
  }
  for (const ConvTap& t : p.taps) {
    p.min_dy = std::min(p.min_dy, t.dy), max_dy = std::max(max_dy, t.dy);
    p.min_dx = std::min(p.min_dx, t.dx), max_dx = std::max(max_dx, t.dx);
  }
  p.direct = p.taps.empty() || (s_.step_x == 1 && p.min_dx >= 0 && max_dx + p.cols <= s_.in_w &&
                                p.min_dy >= 0 && (p.rows - 1) * s_.step_y + max_dy < s_.in_h);
  p.row_span = max_dy - p.min_dy + 1;
  // Without vertical extent only the rows that are used need copying.
  p.row_step = p.row_span == 1 && !p.direct ? 1 : s_.step_y;
  for (const ConvTap& t : p.taps) {
    const int phase = (t.dx - p.min_dx) % s_.step_x;
    if (std::find(p.columns.begin(), p.columns.end(), phase) == p.columns.end())
      p.columns.push_back(phase);
    p.width = std::max(p.width, p.cols + (t.dx - p.min_dx) / s_.step_x);
  }
  const bool dense_output = p.step_x == 1 && p.step_y == 1 && p.cols == s_.out_w;
  const bool dense_input =
      p.direct ? s_.step_y == 1 && p.cols == s_.in_w : p.row_step == 1 && p.width == p.cols;
  p.flat = dense_output && dense_input && p.taps.size() <= 1;

  // Bands: input rows that fit the cache; then enough pieces for the threads.
  const int64_t row_bytes = int64_t{4} * group_in_ * p.row_step *
                            (p.direct ? s_.in_w : p.width * static_cast<int64_t>(p.columns.size()));
  int64_t band = std::max<int64_t>(kBandBytes / std::max<int64_t>(row_bytes, 1), kMinBandRows);
  band = std::min<int64_t>(band, p.rows);
  const int64_t pairs = ceil_div(ceil_div(group_out_, kLanes), 2);
  const double macs = static_cast<double>(s_.batch) * s_.out_c * p.rows * p.cols *
                      static_cast<double>(p.taps.size()) * (s_.in_c / s_.group) * merged_;
  const int64_t wanted =
      task_count(int64_t{1} << 40, macs / kLanes / static_cast<double>(int64_t{1} << 40), threads_);
  auto pieces = [&] {
    return std::max<int64_t>(s_.batch, 1) * groups_ * ceil_div(p.rows, band) * p.splits;
  };
  if (pieces() < wanted) p.splits = std::min(pairs, ceil_div(wanted, pieces()));
  if (pieces() < wanted)
    band = std::max<int64_t>(
        1, p.rows / std::max<int64_t>(1, wanted / (pieces() / ceil_div(p.rows, band))));
  p.band_rows = static_cast<int>(band);
  p.bands = ceil_div(p.rows, band);

  // Tap offsets from the first input pixel of a row of outputs.
  const int64_t scratch_row = static_cast<int64_t>(p.columns.size()) * p.width;
  const int64_t scratch_rows = (band - 1) * p.row_step + p.row_span;
  const int channels = s_.plain_input ? group_in_ : 1;
  for (int ch = 0; ch < channels; ++ch)
    for (const ConvTap& t : p.taps) {
      const int dx = t.dx - p.min_dx;
      const auto column = std::find(p.columns.begin(), p.columns.end(), dx % s_.step_x);
      p.direct_taps.push_back(static_cast<int32_t>(
          (static_cast<int64_t>(ch) * s_.in_h * s_.in_w + t.dy * int64_t{s_.in_w} + t.dx) * lanes));
      p.scratch_taps.push_back(
          static_cast<int32_t>((ch * scratch_rows * scratch_row + (t.dy - p.min_dy) * scratch_row +
                                (column - p.columns.begin()) * p.width + dx / s_.step_x) *
                               lanes));
    }
}

int64_t ConvTiles::group_floats(const Phase& p) const {
  return ceil_div(group_out_, kLanes) * kLanes * group_in_ * static_cast<int64_t>(p.taps.size());
}

// [merged group][pair of output blocks][input channel block][tap][lane][2 * kLanes]; the last
// merged group may hold fewer channels, an odd last block is kLanes wide.
void ConvTiles::pack_group(const Phase& p, const float* src, int g, float* dst) const {
  const int real_in = s_.in_c / s_.group, real_out = s_.out_c / s_.group;
  const int channels = std::min(group_in_, s_.in_c - g * group_in_);
  const int outputs = std::min(group_out_, s_.out_c - g * group_out_);
  const int out_blocks = static_cast<int>(ceil_div(outputs, kLanes));
  const int lanes = s_.plain_input ? 1 : kLanes;
  dst += g * group_floats(p);
  for (int block = 0; block < out_blocks; block += 2) {
    const int width = std::min(2, out_blocks - block) * kLanes;
    for (int c0 = 0; c0 < channels; c0 += lanes)
      for (const ConvTap& t : p.taps)
        for (int c = c0; c < std::min(c0 + lanes, channels); ++c, dst += width) {
          const int first = block * kLanes;  // output channel within the merged group
          const int64_t in = (c % real_in) * w_.in + t.index;
          int i = 0;
          for (; i < width && first + i < outputs; ++i) {
            const int o = first + i;
            dst[i] =
                o / real_out == c / real_in
                    ? src[(g * merged_ + o / real_out) * w_.group + (o % real_out) * w_.out + in]
                    : 0.f;
          }
          for (; i < width; ++i) dst[i] = 0.f;
        }
  }
}

namespace {

// n pixels, `stride` pixels apart, of `lanes` floats each.
void copy_pixels(float* dst, const float* src, int64_t n, int stride, int lanes) {
  if (stride == 1) {
    std::memcpy(dst, src, static_cast<size_t>(n * lanes) * 4);
  } else if (lanes == kLanes) {
    for (int64_t i = 0; i < n; ++i) store(dst + i * kLanes, load(src + i * stride * kLanes));
  } else {
    int64_t i = 0;
    if (stride == 2)
      for (; i + kLanes < n; i += kLanes)  // reads one float past the last pixel taken
        store(dst + i, even_lanes(load(src + 2 * i), load(src + 2 * i + kLanes)));
    for (; i < n; ++i) dst[i] = src[i * stride];
  }
}

}  // namespace

void ConvTiles::fill_scratch(const Phase& p, const float* x, int c0, int channels, int row0,
                             int rows, float* dst) const {
  const int lanes = s_.plain_input ? 1 : kLanes;
  const int64_t blocks = s_.plain_input ? channels : ceil_div(channels, kLanes);
  const int64_t plane = static_cast<int64_t>(s_.in_h) * s_.in_w * lanes;
  const int64_t row_floats = static_cast<int64_t>(p.width) * lanes;
  const int64_t block_rows = (p.band_rows - 1) * p.row_step + p.row_span;
  const int used = (rows - 1) * p.row_step + p.row_span;
  x += c0 / lanes * plane;
  for (int64_t b = 0; b < blocks; ++b, x += plane) {
    float* out = dst + b * block_rows * static_cast<int64_t>(p.columns.size()) * row_floats;
    for (int i = 0; i < used; ++i) {
      const int64_t iy = p.row_span == 1 ? static_cast<int64_t>(row0 + i) * s_.step_y + p.min_dy
                                         : static_cast<int64_t>(row0) * s_.step_y + p.min_dy + i;
      for (const int column : p.columns) {
        // Pixel j comes from column j * step + first.
        const int first = column + p.min_dx, step = s_.step_x;
        int64_t begin = first < 0 ? ceil_div(-first, step) : 0;
        int64_t end = first < s_.in_w ? ceil_div(s_.in_w - first, step) : 0;
        end = std::min<int64_t>(end, p.width);
        if (iy < 0 || iy >= s_.in_h || begin >= end) begin = end = 0;
        std::memset(out, 0, static_cast<size_t>(begin * lanes) * 4);
        if (end > begin)
          copy_pixels(out + begin * lanes, x + (iy * s_.in_w + begin * step + first) * lanes,
                      end - begin, step, lanes);
        std::memset(out + end * lanes, 0, static_cast<size_t>(row_floats - end * lanes) * 4);
        out += row_floats;
      }
    }
  }
}

void ConvTiles::task(const Run& r, const Phase& p, int64_t index, int worker) const {
  const int split = static_cast<int>(index % p.splits);
  const int64_t band = index / p.splits % p.bands;
  const int g = static_cast<int>(index / p.splits / p.bands % groups_);
  const int64_t n = index / p.splits / p.bands / groups_;

  const int row0 = static_cast<int>(p.rows * band / p.bands);
  const int rows = static_cast<int>(p.rows * (band + 1) / p.bands) - row0;
  const int lanes = s_.plain_input ? 1 : kLanes;
  const int c0 = g * group_in_, channels = std::min(group_in_, s_.in_c - c0);
  const int o0 = g * group_out_;
  const int first_block = o0 / kLanes;
  const int out_blocks = static_cast<int>(ceil_div(std::min(group_out_, s_.out_c - o0), kLanes));

  // Input as the tiles see it.
  const int64_t in_plane = static_cast<int64_t>(s_.in_h) * s_.in_w * lanes;
  const float* x =
      x_.ptr<float>(r) + n * in_plane * (s_.plain_input ? s_.in_c : ceil_div(s_.in_c, kLanes));
  TileArgs t{};
  int64_t row_pitch;
  if (p.direct) {
    x += c0 / lanes * in_plane + static_cast<int64_t>(row0) * s_.step_y * s_.in_w * lanes;
    row_pitch = static_cast<int64_t>(s_.step_y) * s_.in_w * lanes;
    t.block_pitch = in_plane;
    t.taps = p.direct_taps.data();
  } else {
    float* scratch = reinterpret_cast<float*>(r.workspace) + worker * scratch_floats_;
    fill_scratch(p, x, c0, channels, row0, rows, scratch);
    x = scratch;
    const int64_t row = static_cast<int64_t>(p.columns.size()) * p.width * lanes;
    row_pitch = row * p.row_step;
    t.block_pitch = row * ((p.band_rows - 1) * p.row_step + p.row_span);
    t.taps = p.scratch_taps.data();
  }
  t.tap_count = static_cast<int>(p.taps.size()) * (s_.plain_input ? channels : 1);
  t.lanes = lanes;
  const int in_blocks = s_.plain_input ? 1 : static_cast<int>(ceil_div(channels, kLanes));
  const int last_lanes = s_.plain_input ? 1 : channels - (in_blocks - 1) * kLanes;
  const int64_t steps_per_block = static_cast<int64_t>(t.tap_count) * lanes;
  const int64_t all_steps = static_cast<int64_t>(p.taps.size()) * channels;

  float* y = r.ptr<float>(y_);
  const int64_t out_plane = static_cast<int64_t>(s_.out_h) * s_.out_w * kLanes;
  const int64_t y_base = (n * ceil_div(s_.out_c, kLanes) + first_block) * out_plane;
  const float* residual = tail_.has_residual ? tail_.residual.ptr<float>(r) : nullptr;
  t.y_block = out_plane;
  t.y_pixel = static_cast<int64_t>(p.step_x) * kLanes;
  t.low = tail_.low;
  t.high = tail_.high;
  t.w_pair = all_steps * 2 * kLanes;

  const int tile_rows = p.flat ? 1 : rows;
  const int cols = p.flat ? rows * p.cols : p.cols;
  const int64_t pixel_step = lanes;
  const int pairs = (out_blocks + 1) / 2;
  const int pair_end = static_cast<int>(pairs * (split + 1) / p.splits);
  const float* group_weights = weights_of(r, p) + g * group_floats(p);
  for (int pair = static_cast<int>(pairs * split / p.splits); pair < pair_end;) {
    int vectors = std::min(2, out_blocks - 2 * pair);
    if (cols <= kMaxPixels4 && pair + 1 < pair_end && out_blocks - 2 * pair >= 4) vectors = 4;
    const int tiles = static_cast<int>(ceil_div(cols, max_pixels(vectors)));
    const float* weights = group_weights + pair * t.w_pair;
    const int64_t step_floats = std::min(vectors, 2) * kLanes;
    const int chunk = static_cast<int>(std::max<int64_t>(
        1, kWeightChunkBytes / std::max<int64_t>(1, steps_per_block * step_floats * 4)));
    const int64_t y_pair = y_base + 2 * pair * out_plane;
    for (int b = 0; b < in_blocks; b += chunk) {
      t.blocks = std::min(chunk, in_blocks - b);
      t.last = b + t.blocks == in_blocks;
      t.last_lanes = t.last ? last_lanes : lanes;
      t.w = weights + b * steps_per_block * step_floats;
      // The next chunk of weights comes in during the first tiles of this one.
      const int64_t chunk_floats = t.blocks * steps_per_block * step_floats;
      t.bias = b == 0 ? bias_.data() + (first_block + 2 * pair) * kLanes : nullptr;
      for (int row = 0; row < tile_rows; ++row) {
        const float* x_row = x + b * t.block_pitch + row * row_pitch;
        const int64_t y_row =
            y_pair +
            ((p.y0 + static_cast<int64_t>(row0 + row) * p.step_y) * s_.out_w + p.x0) * kLanes;
        for (int i = 0; i < tiles; ++i) {
          const int col = static_cast<int>(int64_t{cols} * i / tiles);
          const int pixels = static_cast<int>(int64_t{cols} * (i + 1) / tiles) - col;
          const int64_t at = y_row + col * t.y_pixel;
          t.x = x_row + col * pixel_step;
          t.y = y + at;
          t.residual = residual ? residual + at : nullptr;
          const int64_t turn = static_cast<int64_t>(row) * tiles + i;
          t.prefetch = turn < 4 ? t.w + chunk_floats + turn * chunk_floats / 4 : nullptr;
          (s_.plain_input ? packed_tile : blocked_tile)(vectors, pixels)(t);
          if (t.last && !posts_.empty() && !posts_last_)
            for (int o = 0; o < vectors; ++o)
              posts_.apply(r, t.y + o * out_plane, int64_t{pixels} * kLanes, at + o * out_plane);
        }
      }
    }
    pair += vectors == 4 ? 2 : 1;
  }
}

void ConvTiles::run(const Run& r) {
  if (bias_computed_)
    std::memcpy(bias_.data(), bias_input_.ptr<float>(r), static_cast<size_t>(s_.out_c) * 4);
  for (const Phase& p : phases_) {
    if (!p.weights)
      r.parallel_for(groups_, [&](int64_t g, int) {
        pack_group(p, w_input_.ptr<float>(r), static_cast<int>(g), computed(r) + p.packed_at);
      });
    r.parallel_for(s_.batch * groups_ * p.bands * p.splits,
                   [&](int64_t index, int worker) { task(r, p, index, worker); });
  }
  if (!posts_last_) return;
  const int64_t plane = static_cast<int64_t>(s_.out_h) * s_.out_w * kLanes;
  r.parallel_for(s_.batch * ceil_div(s_.out_c, kLanes), [&](int64_t i, int) {
    posts_.apply(r, r.ptr<float>(y_) + i * plane, plane, i * plane);
  });
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
