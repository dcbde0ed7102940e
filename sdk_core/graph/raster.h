// Simplification of data movement after lowering.
#ifndef FOVEAL_GRAPH_RASTER_H_
#define FOVEAL_GRAPH_RASTER_H_

#include <vector>

#include "graph/graph.h"
#include "ops/raster.h"

namespace foveal {

// Reads `outer` input `input` through the raster that makes it: regions of the result copy
// straight from the inputs of `inner`, which are numbered from outer's input count on. False, with
// `outer` unchanged, where the regions do not compose exactly or would become too many.
// `elements`: size of the tensor between the two.
bool compose(ops::Raster& outer, int input, const ops::Raster& inner, int outer_inputs,
             int64_t elements);

// On a lowered graph with concrete shapes:
//   raster(view(x)) reads x; view(view(x)) reads x; raster(raster(x)) becomes one raster when the
//   inner result has no other reader; view(raster(x)) becomes a raster; a raster that copies one
//   input whole and in order becomes a reshape.
// Results are bit for bit the same. Drops what became dead, which renumbers values.
void simplify_rasters(Graph& graph);

}  // namespace foveal
#endif  // FOVEAL_GRAPH_RASTER_H_
