#ifndef FOVEAL_GRAPH_OPS_JSON_H_
#define FOVEAL_GRAPH_OPS_JSON_H_

#include <string>

namespace foveal {

// Every operator definition as a JSON list, sorted by name:
//   {"name", "version", "doc", "inputs": ["x", "bias?", "xs*"], "outputs": [...],
//    "traits": ["pointwise" | "view" | "movement"], "decomposes": bool,
//    "attrs": [{"name", "type": "int" | "float" | "string" | "ints" | "floats", "default", "doc"}]}
// Infinite defaults are written 1e999 and -1e999: valid JSON that parsers read as infinities.
std::string ops_json();

}  // namespace foveal
#endif  // FOVEAL_GRAPH_OPS_JSON_H_
