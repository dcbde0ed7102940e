// The service table handed to plugins.
#ifndef FOVEAL_PLUGIN_HOST_H_
#define FOVEAL_PLUGIN_HOST_H_

#include "foveal/plugin.h"
#include "ops/op.h"

namespace foveal {

// Lives for the whole process.
const fv_host* host();

// Folder for cache_get/cache_put; NULL or empty = no persistent cache.
void set_cache_dir(const char* path);

// Points into `value`.
fv_attr attr_view(const AttrValue& value);

}  // namespace foveal
#endif  // FOVEAL_PLUGIN_HOST_H_
