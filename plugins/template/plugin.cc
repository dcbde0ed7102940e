// The table that the core reads: which devices there are and which kernels they offer.
#include "kernels.h"

namespace foveal::sample {
namespace {

// Called once, when the core opens the library. List unusable devices too, with score 0 and the
// reason: `foveal plugins` shows it. The CPU plugin scores 100; a faster device scores more.
std::vector<fv_device_info> devices() {
  return {plugin::device(FOVEAL_PLUGIN_NAME, "naive loops over plain tensors", 10)};
}

// What has no row here runs on the next device of the session's list, or, where the operator's
// definition has a decomposition, as the operators it decomposes into.
std::span<const KernelDef> kernels(int /*device*/) {
  static const std::vector<KernelDef> all = [] {
    std::vector<KernelDef> rows;
    for (auto family : {pointwise_kernels(), conv2d_kernels()})
      rows.insert(rows.end(), family.begin(), family.end());
    return rows;
  }();
  return all;
}

constexpr plugin::PluginDef kDef{FOVEAL_PLUGIN_NAME, FOVEAL_PLUGIN_VERSION, "Foveal", devices,
                                 kernels};

}  // namespace
}  // namespace foveal::sample

// The only symbol this library exports.
extern "C" FV_PLUGIN_EXPORT const fv_plugin_api* foveal_plugin() {
  return foveal::plugin::api<&foveal::sample::kDef>();
}
