#ifndef FOVEAL_OPS_RELAYOUT_H_
#define FOVEAL_OPS_RELAYOUT_H_

#include "ops/window.h"

namespace foveal::ops {

// Inserted by the session where neighbours want different layouts; the verifier refuses it in
// files, since a logical graph has no layouts.
struct Relayout {
  static constexpr OpInfo kInfo{"relayout", 1, "x", "y",
                                "The same logical tensor in another physical layout."};
  template <class V>
  void fields(V&) {}
  Status infer(InferContext& c) const {
    c.out(0, c.in(0));
    return ok();
  }
};

inline void define_relayout(OpTable& t) { t.add<Relayout>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_RELAYOUT_H_
