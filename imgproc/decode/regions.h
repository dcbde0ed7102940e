// Connected regions of a score map.
#ifndef FOVEAL_IMGPROC_DECODE_REGIONS_H_
#define FOVEAL_IMGPROC_DECODE_REGIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace foveal::imgproc {

// Adjacent pixels x0..x1 (inclusive) of row y, all of one region.
struct PixelRun {
  int32_t y, x0, x1;
  int32_t region;
};

struct Regions {
  std::vector<PixelRun> runs;   // by region, then y, then x
  std::vector<size_t> first;    // of each region in `runs`; one more than there are regions
  std::vector<int64_t> pixels;  // of each region

  size_t count() const { return pixels.size(); }
};

// 8-connected regions of the pixels above the threshold, in order of their first pixel. dilate: a
// pixel also counts when its left, upper or upper left neighbour is above (a 2x2 dilation, which
// moves everything half a pixel right and down).
Regions find_regions(const float* map, int64_t width, int64_t height, float threshold, bool dilate);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_DECODE_REGIONS_H_
