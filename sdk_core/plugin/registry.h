// All plugins of the process: where they are looked for, which wins, which failed and why.
#ifndef FOVEAL_PLUGIN_REGISTRY_H_
#define FOVEAL_PLUGIN_REGISTRY_H_

#include <string>
#include <vector>

#include "base/mutex.h"
#include "plugin/library.h"

namespace foveal {

// Plugins linked into this library, in order; the last is NULL. Made by the build
// (FOVEAL_STATIC_PLUGINS).
extern const fv_plugin_entry kStaticPlugins[];

class Registry {
 public:
  static Registry& get();

  // A file, or a folder all of whose libraries are plugins. Opened lazily.
  Status add(const std::string& path);
  Status add_static(fv_plugin_entry entry);
  Status remove(const std::string& name);

  struct Device {
    std::shared_ptr<Library> library;
    int index;
  };
  // "cpu", "template,cpu", or ""/"auto": every usable device, best score first.
  // A name that does not exist, or is unusable here, is an error with the reason and the choices.
  Result<std::vector<Device>> find(const std::string& devices);

  Result<std::string> json();

 private:
  struct Entry {
    std::string path;  // "" for a static table
    std::shared_ptr<Library> library;
    std::string error;     // why it is not open
    std::string shadowed;  // why another one of the same name wins
    bool tried = false;
  };
  // These with mutex_ held.
  Status open_all();  // fails for want of memory alone
  Status search();    // what is there without anyone's call: linked in, installed, environment
  Status add_locked(const std::string& path);
  void add_file(const std::string& path);

  Mutex mutex_;
  std::vector<Entry> entries_;
  bool searched_ = false;
};

}  // namespace foveal
#endif  // FOVEAL_PLUGIN_REGISTRY_H_
