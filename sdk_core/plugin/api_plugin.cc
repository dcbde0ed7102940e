// foveal.h: plugins.
#include <cstdlib>

#include "base/guard.h"
#include "foveal/foveal.h"
#include "plugin/host.h"
#include "plugin/registry.h"

using namespace foveal;

extern "C" {

fv_status* fv_plugin_add(const char* path) {
  return guard(__func__, {{"path", path}}, [&] { return Registry::get().add(path); });
}
fv_status* fv_plugin_add_static(const fv_plugin_api* (*entry)(void)) {
  return guard(__func__, {{"entry", reinterpret_cast<const void*>(entry)}},
               [&] { return Registry::get().add_static(entry); });
}
fv_status* fv_plugin_remove(const char* name) {
  return guard(__func__, {{"name", name}}, [&] { return Registry::get().remove(name); });
}
fv_status* fv_plugins_json(char** out) {
  return guard(__func__, {{"out", out}}, [&]() -> Status {
    FV_ASSIGN(const std::string text, Registry::get().json());
    return give_string(text, out);
  });
}
fv_status* fv_cache_dir(const char* path) {
  return guard(__func__, [&] {
    set_cache_dir(path);
    return ok();
  });
}
void fv_string_free(char* string) { std::free(string); }

}  // extern "C"
