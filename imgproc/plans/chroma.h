// Where the samples of linear chroma lie.
#ifndef FOVEAL_IMGPROC_PLANS_CHROMA_H_
#define FOVEAL_IMGPROC_PLANS_CHROMA_H_

#include "imgproc/frame.h"
#include "imgproc/spec.h"

namespace foveal::imgproc {

// Along one axis: sample c at pixel index 2 c + 2 site - odd.
struct ChromaAxis {
  int odd;
  double site;
};
inline ChromaAxis chroma_axis(const Source& s, Siting siting, bool vertical) {
  const Channel& c = s.channel[1];
  const bool first = vertical ? siting == Siting::kTopLeft : siting != Siting::kCenter;
  return {vertical ? c.odd_y : c.odd_x, first ? 0 : 0.25};
}
inline bool subsampled(const Source& s, bool vertical) {
  return (vertical ? s.channel[1].shift_y : s.channel[1].shift_x) != 0;
}

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLANS_CHROMA_H_
