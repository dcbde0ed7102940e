// Decides the physical layout of every tensor and inserts the conversions between them.
#ifndef FOVEAL_SESSION_LAYOUT_H_
#define FOVEAL_SESSION_LAYOUT_H_

#include "session/place.h"

namespace foveal {

// Fills g.states and inserts `relayout` nodes. Graph inputs and outputs, constants, views and
// tensors of rank < 3 are plain; nodes that accept any layout take what most of their inputs have.
Status choose_layouts(PlacedGraph& g, const Backends& backends);

}  // namespace foveal
#endif  // FOVEAL_SESSION_LAYOUT_H_
