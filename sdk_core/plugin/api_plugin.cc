// foveal.h: plugins.
#include <cstdlib>
#include <cstring>

#include "foveal/foveal.h"
#include "plugin/host.h"
#include "plugin/registry.h"

using namespace foveal;

static fv_status* give_string(const std::string& text, char** out) {
  *out = static_cast<char*>(std::malloc(text.size() + 1));
  if (!*out) return Status(FV_OUT_OF_MEMORY, "no memory for a text").release();
  std::memcpy(*out, text.c_str(), text.size() + 1);
  return nullptr;
}

extern "C" {

fv_status* fv_plugin_add(const char* path) { return Registry::get().add(path).release(); }
fv_status* fv_plugin_add_static(const fv_plugin_api* (*entry)(void)) {
  return Registry::get().add_static(entry).release();
}
fv_status* fv_plugin_remove(const char* name) { return Registry::get().remove(name).release(); }
fv_status* fv_plugins_json(char** out) { return give_string(Registry::get().json(), out); }
fv_status* fv_cache_dir(const char* path) {
  set_cache_dir(path);
  return nullptr;
}
void fv_string_free(char* string) { std::free(string); }

}  // extern "C"
