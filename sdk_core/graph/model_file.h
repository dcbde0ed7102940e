// Model files (.fvm).
//
//   offset 0   prelude, 64 bytes, little-endian:
//                magic "FOVEALM1", u32 prelude size, u32 flags (0), u64 header size,
//                u64 weights offset, u64 file size, u64 header checksum, u64 weights checksum,
//                u64 checksum of the 56 bytes before
//   64         header: a FlatBuffer, schema/model.fbs; then zeros up to
//   weights    constants, each at a multiple of 64 bytes
//
// The header checksum covers everything between prelude and weights. Opening maps the file: the
// graph's constants point into it and keep it mapped. A mapped file must not be changed in place;
// replacing it by rename, as save does, is safe.
#ifndef FOVEAL_GRAPH_MODEL_FILE_H_
#define FOVEAL_GRAPH_MODEL_FILE_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/verify.h"

namespace foveal {

struct OpenOptions {
  // Read all weights once to compare their checksum. Without it a damaged weight goes unnoticed.
  bool check_weights = true;
  VerifyOptions verify;
};

// FV_NOT_FOUND, FV_IO_ERROR; FV_MODEL_ERROR says what was expected and what came; errors of
// verify(). The graph is verified.
Result<Graph> open_model(const std::string& path, const OpenOptions& options = {});

// The same for bytes in memory, which `owner` keeps alive (empty: they outlive the graph). Bytes
// that do not begin at a multiple of FV_ALIGNMENT are copied.
Result<Graph> open_model(const void* data, size_t bytes, std::shared_ptr<const void> owner,
                         const OpenOptions& options = {});

// Verifies a copy of the graph and writes that. The same graph gives the same bytes.
Result<std::vector<uint8_t>> serialise_model(const Graph& graph);
// Atomic: the file at `path` is either the old or the complete new one.
Status save_model(const Graph& graph, const std::string& path);

}  // namespace foveal
#endif  // FOVEAL_GRAPH_MODEL_FILE_H_
