// Shape and type inference, one operator or a whole graph.
#ifndef FOVEAL_GRAPH_INFER_H_
#define FOVEAL_GRAPH_INFER_H_

#include <string>
#include <vector>

#include "graph/graph.h"

namespace foveal {

// Sets every attribute of the definition, in its order, with defaults where `attrs` has none.
// Integers become floats where the definition wants floats. FV_UNSUPPORTED_OP for attributes the
// definition does not have, FV_MODEL_ERROR for a wrong type or a name given twice.
Status complete_attrs(const OpDef& def, Attrs& attrs);

// Number of inputs and outputs, and that only optional inputs are omitted.
// present[i]: input i is given.
Status check_arity(const OpDef& def, const std::vector<bool>& present, size_t outputs);

// Result types for complete attributes and checked arity; NULL = omitted input. Every result has
// rank <= FV_MAX_RANK, sane dimensions and a size in bytes that fits 63 bits.
Result<std::vector<TensorType>> infer_types(const OpDef& def, const Attrs& attrs,
                                            const std::vector<const TensorType*>& inputs,
                                            size_t outputs);

// All of the above for an operator by name; completes `attrs`.
Result<std::vector<TensorType>> infer_op(const std::string& op, Attrs& attrs,
                                         const std::vector<const TensorType*>& inputs,
                                         size_t outputs);

// Rank <= FV_MAX_RANK, known type, dimensions -1 or small enough that sizes fit 63 bits.
Status check_type(const TensorType& type);

// Infers the types of all values of a verified graph from those of its inputs, which `input_dims`
// replaces if it is not empty: one entry per graph input, agreeing with the declared shape where
// that is known. Dimensions that share a name must agree. Errors begin "op 'node name': ".
Status infer_graph(Graph& graph, const std::vector<Dims>& input_dims = {});

}  // namespace foveal
#endif  // FOVEAL_GRAPH_INFER_H_
