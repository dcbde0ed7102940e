#include "imgproc/decode/regions.h"

#include <algorithm>
#include <cstring>

#include "imgproc/decode/scan.h"

namespace foveal::imgproc {
namespace {

// Rows of the bitmap, one after the other.
class Rows {
 public:
  Rows(const float* map, int64_t width, float threshold, bool dilate)
      : map_(map), width_(width), threshold_(threshold), dilate_(dilate) {
    const size_t n = static_cast<size_t>(width);
    // A leading 0 stands left of the row.
    raw_.resize(n + 1);
    now_.resize(n);
    before_.resize(n);
    row_.resize(n);
  }

  const uint8_t* next() {
    above(map_, width_, threshold_, raw_.data() + 1);
    map_ += width_;
    if (!dilate_) return raw_.data() + 1;
    std::swap(now_, before_);
    unite(raw_.data(), raw_.data() + 1, width_, now_.data());
    unite(now_.data(), before_.data(), width_, row_.data());
    return row_.data();
  }

 private:
  const float* map_;
  int64_t width_;
  float threshold_;
  bool dilate_;
  std::vector<uint8_t> raw_, now_, before_, row_;
};

void add_runs(const uint8_t* row, int32_t width, int32_t y, std::vector<PixelRun>& runs) {
  int32_t x = 0;
  while (x < width) {
    const void* begin = std::memchr(row + x, 1, static_cast<size_t>(width - x));
    if (!begin) return;
    const int32_t from = static_cast<int32_t>(static_cast<const uint8_t*>(begin) - row);
    const void* end = std::memchr(row + from, 0, static_cast<size_t>(width - from));
    x = end ? static_cast<int32_t>(static_cast<const uint8_t*>(end) - row) : width;
    runs.push_back({y, from, x - 1, static_cast<int32_t>(runs.size())});
  }
}

// Union-find over runs; `region` is the parent, the smallest run of a set its root.
int32_t root(std::vector<PixelRun>& runs, int32_t i) {
  const auto parent = [&runs](int32_t k) -> int32_t& {
    return runs[static_cast<size_t>(k)].region;
  };
  while (parent(i) != i) i = parent(i) = parent(parent(i));
  return i;
}

void unite_runs(std::vector<PixelRun>& runs, size_t a, size_t b) {
  const int32_t p = root(runs, static_cast<int32_t>(a)), q = root(runs, static_cast<int32_t>(b));
  runs[static_cast<size_t>(std::max(p, q))].region = std::min(p, q);
}

// Numbers the regions, and sorts the runs by them; within one they keep their order.
Regions grouped(std::vector<PixelRun> runs) {
  Regions r;
  std::vector<size_t> size;
  for (size_t i = 0; i < runs.size(); ++i) {
    // Roots come before their members and are numbered by then.
    const size_t parent = static_cast<size_t>(runs[i].region);
    if (parent == i) {
      runs[i].region = static_cast<int32_t>(r.pixels.size());
      r.pixels.push_back(0);
      size.push_back(0);
    } else {
      runs[i].region = runs[parent].region;
    }
    const size_t region = static_cast<size_t>(runs[i].region);
    r.pixels[region] += runs[i].x1 - runs[i].x0 + 1;
    ++size[region];
  }
  r.first.assign(1, 0);
  for (const size_t n : size) r.first.push_back(r.first.back() + n);
  std::vector<size_t> at(r.first);
  r.runs.resize(runs.size());
  for (const PixelRun& run : runs) r.runs[at[static_cast<size_t>(run.region)]++] = run;
  return r;
}

}  // namespace

Regions find_regions(const float* map, int64_t width, int64_t height, float threshold,
                     bool dilate) {
  std::vector<PixelRun> runs;
  Rows rows(map, width, threshold, dilate);
  size_t before = 0, here = 0;  // where the runs of the last row and of this one begin
  for (int64_t y = 0; y < height; ++y) {
    before = here;
    here = runs.size();
    add_runs(rows.next(), static_cast<int32_t>(width), static_cast<int32_t>(y), runs);
    for (size_t a = before, b = here; a < here && b < runs.size();) {
      if (runs[a].x0 <= runs[b].x1 + 1 && runs[b].x0 <= runs[a].x1 + 1) unite_runs(runs, a, b);
      ++(runs[a].x1 < runs[b].x1 ? a : b);
    }
  }
  // Every run points at its root, whose index is smaller.
  for (size_t i = 0; i < runs.size(); ++i) runs[i].region = root(runs, static_cast<int32_t>(i));
  return grouped(std::move(runs));
}

}  // namespace foveal::imgproc
