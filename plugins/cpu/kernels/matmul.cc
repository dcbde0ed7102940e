// Matrix product on register tiles.
//
// b is packed in panels of 2 * kLanes columns, [panel][k][2 * kLanes]: once if it is constant,
// else at every run. a is packed in tiles of P rows, [tile][k][P]; a single row needs no packing.
// A task takes a band of tiles and a range of panels; a panel stays in L2 while the band passes.
#include "ops/matmul.h"

#include "common/posts.h"
#include "common/tile_table.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

constexpr int64_t kPanel = 2 * kLanes;
constexpr int64_t kBandBytes = 256 << 10;  // of packed a

struct Matmul : Kernel {
  Input a, b;
  int y = -1, threads = 1;
  bool transpose_a = false, transpose_b = false;
  int64_t m = 1, n = 1, k = 1, batch = 1;
  std::vector<int64_t> batch_a, batch_b;  // element offset of a and b per product
  const float* packed_b = nullptr;        // constant b
  std::vector<int64_t> packed_index;      // product -> packed matrix of b
  int64_t packed_size = 0;
  Floats64 bias;
  bool has_bias_operand = false;
  Operand bias_operand;
  BinaryFn add_vector = nullptr, add_pattern = nullptr;
  FusedTail tail;
  Posts posts;

  int64_t panels() const { return ceil_div(n, kPanel); }
  bool packs_a() const { return m > 1 || transpose_a; }
  int64_t a_floats() const { return packs_a() ? (m * k + 15) / 16 * 16 : 0; }

  // Panel p of one b matrix.
  void pack_panel(const float* src, int64_t p, float* dst) const {
    const int64_t first = p * kPanel, cols = std::min(kPanel, n - first);
    for (int64_t i = 0; i < k; ++i, dst += kPanel) {
      if (transpose_b) {
        for (int64_t j = 0; j < cols; ++j) dst[j] = src[(first + j) * k + i];
      } else {
        std::memcpy(dst, src + i * n + first, static_cast<size_t>(cols) * 4);
      }
      for (int64_t j = cols; j < kPanel; ++j) dst[j] = 0;
    }
  }
  int64_t tiles() const { return ceil_div(m, kMaxPixels2); }
  int64_t tile_begin(int64_t t) const { return m * t / tiles(); }
  void pack_tile(const float* src, int64_t t, float* dst) const {
    const int64_t r0 = tile_begin(t), rows = tile_begin(t + 1) - r0;
    dst += r0 * k;
    if (transpose_a) {
      for (int64_t i = 0; i < k; ++i)
        for (int64_t r = 0; r < rows; ++r) dst[i * rows + r] = src[i * m + r0 + r];
    } else {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < k; ++i) dst[i * rows + r] = src[(r0 + r) * k + i];
    }
  }

  Status run(const Run& r) override {
    if (m == 0 || n == 0) return ok();
    const float *pa = a.ptr<float>(r), *pb = b.ptr<float>(r);
    float* scratch_a = reinterpret_cast<float*>(r.workspace);
    float* scratch_b = scratch_a + a_floats();
    for (int64_t i = 0; i < batch; ++i) {
      const float* left = pa + batch_a[static_cast<size_t>(i)];
      if (packs_a()) {
        const int64_t count = tiles();
        const int64_t tasks = task_count(count, static_cast<double>(k * kMaxPixels2), threads);
        r.parallel_for(tasks, [&](int64_t task, int) {
          const Range range = slice_of(count, task, tasks);
          for (int64_t t = range.begin; t < range.end; ++t) pack_tile(left, t, scratch_a);
        });
        left = scratch_a;
      }
      const float* right = scratch_b;
      if (packed_b) {
        right = packed_b + packed_index[static_cast<size_t>(i)] * packed_size;
      } else if (i == 0 || batch_b[static_cast<size_t>(i)] != batch_b[static_cast<size_t>(i) - 1]) {
        const int64_t count = panels();
        const int64_t tasks = task_count(count, static_cast<double>(k * 4), threads);
        r.parallel_for(tasks, [&](int64_t task, int) {
          const Range range = slice_of(count, task, tasks);
          for (int64_t p = range.begin; p < range.end; ++p)
            pack_panel(pb + batch_b[static_cast<size_t>(i)], p, scratch_b + p * k * kPanel);
        });
      }
      product(r, left, right, i * m * n);
    }
    return ok();
  }

  void product(const Run& r, const float* left, const float* right, int64_t at) const {
    const int64_t band =
        std::max<int64_t>(1, kBandBytes / std::max<int64_t>(1, k * kMaxPixels2 * 4));
    const int64_t bands = ceil_div(tiles(), band);
    // Panels go in pairs to the 4-vector tile when there are few rows.
    const int64_t units = ceil_div(panels(), 2);
    const int64_t wanted = task_count(
        units * bands, static_cast<double>(m * k * 4) / static_cast<double>(bands), threads);
    const int64_t splits = std::min(units, ceil_div(wanted, bands));
    r.parallel_for(bands * splits, [&](int64_t task, int) {
      const Range t = slice_of(tiles(), task / splits, bands);
      const Range u = slice_of(units, task % splits, splits);
      for (int64_t p = u.begin * 2; p < std::min(u.end * 2, panels());) {
        const bool four = m <= kMaxPixels4 && p + 2 <= panels() && (p + 2) * kPanel <= n;
        const int64_t width = four ? 2 * kPanel : kPanel;
        for (int64_t i = t.begin; i < t.end; ++i)
          one_tile(r, left, right + p * k * kPanel, i, p * kPanel, width, at);
        p += four ? 2 : 1;
      }
    });
  }

  void one_tile(const Run& r, const float* left, const float* panel, int64_t i, int64_t col,
                int64_t width, int64_t at) const {
    const int64_t row = tile_begin(i), rows = tile_begin(i + 1) - row;
    const int64_t cols = std::min(width, n - col);
    float* y0 = r.ptr<float>(y) + at + row * n + col;
    const float* residual =
        tail.has_residual ? tail.residual.ptr<float>(r) + at + row * n + col : nullptr;
    // Partial panels go through scratch: whole vectors would run into the next row.
    alignas(64) float partial[kMaxPixels2 * kPanel], partial_residual[kMaxPixels2 * kPanel];
    const bool whole = cols == width;
    static constexpr int32_t kTap = 0;
    TileArgs t{};
    t.x = left + row * k;
    t.taps = &kTap;
    t.tap_count = 1;
    t.blocks = 1;
    t.lanes = t.last_lanes = static_cast<int>(k);
    t.w = panel;
    t.w_pair = k * kPanel;
    t.y = whole ? y0 : partial;
    t.y_block = kLanes;
    t.y_pixel = whole ? n : kPanel;
    t.bias = bias.data() + col;
    t.residual = residual;
    t.low = tail.low;
    t.high = tail.high;
    t.last = true;
    if (!whole && residual) {
      for (int64_t p = 0; p < rows; ++p)
        std::memcpy(partial_residual + p * kPanel, residual + p * n, static_cast<size_t>(cols) * 4);
      t.residual = partial_residual;
    }
    packed_tile(static_cast<int>(width / kLanes), static_cast<int>(rows))(t);
    if (!whole)
      for (int64_t p = 0; p < rows; ++p)
        std::memcpy(y0 + p * n, partial + p * kPanel, static_cast<size_t>(cols) * 4);
    if (has_bias_operand || !posts.empty())
      for (int64_t p = 0; p < rows; ++p) finish_row(r, y0 + p * n, cols, at + (row + p) * n + col);
  }
  void finish_row(const Run& r, float* y0, int64_t cols, int64_t offset) const {
    if (has_bias_operand) {
      alignas(64) float splat[kLanes];
      const float* base = bias_operand.base(r);
      for (int64_t i = 0; i < cols;) {
        const Operand::Piece p = bias_operand.piece(base, offset + i, splat);
        const int64_t c = std::min(p.n, cols - i);
        (p.pattern ? add_pattern : add_vector)(y0 + i, y0 + i, p.p, c);
        i += c;
      }
    }
    posts.apply(r, y0, cols, offset);
  }
};

void supports(const Node& node, Support& s) {
  if (!is_float(node.input(0))) return s.no("float32 only");
  if (node.input(0).count() >= int64_t{1} << 40) return s.no("too large");
  s.yes();
}

// Batch dimensions of an operand, padded with ones to `rank`.
Dims batch_dims(const Value& v, size_t rank) {
  Dims d(rank, 1);
  for (int i = 0; i + 2 < v.rank(); ++i)
    d[rank - static_cast<size_t>(v.rank() - 2) + static_cast<size_t>(i)] = v.dim(i);
  return d;
}

MadeKernel make(const Context& c, const Node& node) {
  const auto op = node.attrs<ops::Matmul>();
  auto kernel = std::make_unique<Matmul>();
  Matmul& g = *kernel;
  const Value a = node.input(0), b = node.input(1), out = node.output(0);
  g.a = Input(a), g.b = Input(b), g.y = out.slot();
  g.threads = c.threads();
  g.transpose_a = op.transpose_a && a.rank() > 1;
  g.transpose_b = op.transpose_b && b.rank() > 1;
  const int ra = a.rank(), rb = b.rank();
  g.k = a.dim(ra > 1 && g.transpose_a ? ra - 2 : ra - 1);
  g.m = ra > 1 ? a.dim(g.transpose_a ? ra - 1 : ra - 2) : 1;
  g.n = rb > 1 ? b.dim(g.transpose_b ? rb - 2 : rb - 1) : 1;
  if (g.k >= int64_t{1} << 31) return unsupported("inner dimension is too long");

  const size_t rank = static_cast<size_t>(std::max({ra, rb, 2}) - 2);
  const Dims da = batch_dims(a, rank), db = batch_dims(b, rank);
  const int64_t matrices_b = element_count(db);
  if (matrices_b == 1 && !g.transpose_a) {
    g.m *= element_count(da);  // one tall matrix
    g.batch_a = g.batch_b = {0};
    g.packed_index = {0};
  } else {
    Dims dims(rank);
    for (size_t i = 0; i < rank; ++i) dims[i] = da[i] == 1 ? db[i] : da[i];
    g.batch = element_count(dims);
    for (int64_t i = 0; i < g.batch; ++i) {
      int64_t rest = i, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
      for (size_t d = rank; d-- > 0; rest /= dims[d]) {
        const int64_t index = rest % dims[d];
        at_a += da[d] == 1 ? 0 : index * step_a;
        at_b += db[d] == 1 ? 0 : index * step_b;
        step_a *= da[d], step_b *= db[d];
      }
      g.batch_a.push_back(at_a * g.m * g.k);
      g.batch_b.push_back(at_b * g.k * g.n);
      g.packed_index.push_back(at_b);
    }
  }
  g.packed_size = g.panels() * g.k * kPanel;
  if (b.is_constant()) {
    g.packed_b = static_cast<const float*>(c.packed(
        b, format("%s matmul %d", FV_ISA_NAME, g.transpose_b),
        static_cast<size_t>(std::max<int64_t>(1, matrices_b * g.packed_size)) * 4, [&](void* dst) {
          for (int64_t i = 0; i < matrices_b; ++i)
            for (int64_t p = 0; p < g.panels(); ++p)
              g.pack_panel(b.constant<float>() + i * g.k * g.n, p,
                           static_cast<float*>(dst) + i * g.packed_size + p * g.k * kPanel);
        }));
    if (!g.packed_b) return no_memory();
  }
  g.workspace = static_cast<size_t>(g.a_floats() + (b.is_constant() ? 0 : g.packed_size)) * 4;

  g.bias = Floats64(static_cast<size_t>((g.panels() + 2) * kPanel));
  if (!g.bias.data()) return no_memory();
  if (const Value bias = node.input(2)) {
    if (bias.is_constant() && bias.count() == g.n && bias.rank() > 0 &&
        bias.dim(bias.rank() - 1) == g.n && rb > 1) {
      std::memcpy(g.bias.data(), bias.constant<float>(), static_cast<size_t>(g.n) * 4);
    } else {
      g.has_bias_operand = true;
      g.add_vector = find_binary("add", false, false);
      g.add_pattern = find_binary("add", false, true);
      FV_ASSIGN(g.bias_operand, Operand::make(bias, out));
    }
  }
  if (!g.has_bias_operand) g.tail = FusedTail::find(node, out);
  FV_ASSIGN(g.posts, Posts::make(node, out, g.tail.posts));
  return made(std::move(kernel));
}

}  // namespace

void define_matmul(Kernels& k) { FV_KERNEL(k, "matmul", supports, make, fuses_pointwise); }

}  // namespace FV_ISA
}  // namespace foveal::cpu
