#include "plugin/registry.h"

#include <algorithm>
#include <cstdlib>
#if !defined(__wasm__)
#include <filesystem>
#include <iterator>
#endif

#include "base/json_text.h"
#include "base/log.h"

namespace foveal {
namespace {

#if defined(_WIN32)
constexpr char kPathSeparator = ';';
constexpr const char* kSuffixes[] = {".dll"};
#elif defined(__APPLE__)
constexpr char kPathSeparator = ':';
constexpr const char* kSuffixes[] = {".dylib", ".so"};
#else
constexpr char kPathSeparator = ':';
[[maybe_unused]] constexpr const char* kSuffixes[] = {".so"};
#endif

// Whoever names a folder as a place for plugins means all libraries in it, except those that lie
// beside a plugin when the folder is an installed package.
[[maybe_unused]] bool looks_like_plugin(const std::string& file) {
  if (file.starts_with("libfoveal.") || file.starts_with("libfoveal_imgproc.") ||
      file.find(".cpython-") != std::string::npos || file.find(".abi3.") != std::string::npos)
    return false;
  for (const char* suffix : kSuffixes)
    if (file.ends_with(suffix)) return true;
  return false;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != separator) continue;
    size_t a = start, b = i;
    while (a < b && text[a] == ' ') ++a;
    while (b > a && text[b - 1] == ' ') --b;
    if (b > a) parts.push_back(text.substr(a, b - a));
    start = i + 1;
  }
  return parts;
}

// Numeric parts compared as numbers: 1.10 is newer than 1.9.
bool newer(const std::string& a, const std::string& b) {
  const auto x = split(a, '.'), y = split(b, '.');
  for (size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
    const long p = i < x.size() ? std::strtol(x[i].c_str(), nullptr, 10) : 0;
    const long q = i < y.size() ? std::strtol(y[i].c_str(), nullptr, 10) : 0;
    if (p != q) return p > q;
  }
  return false;
}

}  // namespace

Registry& Registry::get() {
  static auto* registry = new Registry;  // leaked: sessions may outlive static destruction
  return *registry;
}

void Registry::add_file(const std::string& path) {
  for (const Entry& e : entries_)
    if (e.path == path) return;
  entries_.push_back({path, nullptr, "", "", false});
}

Status Registry::add(const std::string& path) {
  Lock lock(mutex_);
  return add_locked(path);
}

#if defined(__wasm__)
Status Registry::add_locked(const std::string& path) {
  return Status(FV_PLUGIN_ERROR,
                "plugin path '" + path + "': this platform has no shared libraries",
                "link the plugin in (FOVEAL_STATIC_PLUGINS, fv_plugin_add_static)");
}
#else
Status Registry::add_locked(const std::string& path) {
  std::error_code code;
  const bool is_folder = std::filesystem::is_directory(path, code);
  if (!is_folder && !std::filesystem::exists(path, code))
    return Status(FV_NOT_FOUND, "plugin path '" + path + "' does not exist",
                  "give a plugin library or a folder of plugin libraries");
  if (!is_folder) {
    add_file(path);
    return ok();
  }
  std::vector<std::string> files;
  for (auto it = std::filesystem::directory_iterator(path, code);
       !code && it != std::filesystem::directory_iterator(); it.increment(code))
    if (looks_like_plugin(it->path().filename().string())) files.push_back(it->path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& f : files) add_file(f);
  return ok();
}
#endif

Status Registry::add_static(fv_plugin_entry entry) {
  FV_ASSIGN(auto library, Library::open_static(entry));
  Lock lock(mutex_);
  entries_.push_back({"", std::move(library), "", "", true});
  return ok();
}

Status Registry::remove(const std::string& name) {
  Lock lock(mutex_);
  const size_t n = std::erase_if(
      entries_, [&](const Entry& e) { return e.library && e.library->name() == name; });
  if (n) return ok();
  return Status(FV_NOT_FOUND, "no plugin named '" + name + "' is loaded");
}

Status Registry::search() {
  const auto place = static_cast<std::ptrdiff_t>(entries_.size());
  std::vector<Entry> linked_in;
  for (const fv_plugin_entry* entry = kStaticPlugins; *entry; ++entry) {
    auto opened = Library::open_static(*entry);
    if (opened.ok()) {
      linked_in.push_back({"", opened.take(), "", "", true});
    } else if (opened.status().code() == FV_OUT_OF_MEMORY) {
      return std::move(opened.status());
    } else {
      log(FV_LOG_WARNING, opened.status().message().c_str());
    }
  }
  // Nobody has to have installed any.
  if (const std::string folder = installed_plugins(); !folder.empty())
    (void)add_locked(folder).ok();
  if (const char* path = std::getenv("FOVEAL_PLUGIN_PATH")) {
    for (const std::string& part : split(path, kPathSeparator)) {
      if (Status s = add_locked(part); !s.ok())
        log(FV_LOG_WARNING, ("FOVEAL_PLUGIN_PATH: " + s.message()).c_str());
    }
  }
  entries_.reserve(entries_.size() + linked_in.size());
  entries_.insert(entries_.begin() + place, std::make_move_iterator(linked_in.begin()),
                  std::make_move_iterator(linked_in.end()));
  searched_ = true;
  return ok();
}

Status Registry::open_all() {
  if (!searched_) FV_TRY(search());
  for (Entry& e : entries_) {
    if (e.tried) continue;
    auto opened = Library::open(e.path);
    if (opened.ok()) {
      e.library = opened.take();
    } else if (opened.status().code() == FV_OUT_OF_MEMORY) {
      return std::move(opened.status());  // tried again next time
    } else {
      e.error = opened.status().message();
      const std::string& hint = opened.status().get()->hint;
      log(FV_LOG_WARNING, (e.error + (hint.empty() ? "" : " (" + hint + ")")).c_str());
    }
    e.tried = true;
  }
  // Of several plugins of one name the newest wins; of equal versions the first found.
  for (Entry& e : entries_) {
    e.shadowed.clear();
    if (!e.library) continue;
    for (const Entry& other : entries_) {
      if (&other == &e || !other.library || other.library->name() != e.library->name()) continue;
      const bool loses = newer(other.library->version(), e.library->version()) ||
                         (!newer(e.library->version(), other.library->version()) && &other < &e);
      if (loses)
        e.shadowed = "version " + other.library->version() + " at '" + other.path + "' wins";
    }
  }
  return ok();
}

Result<std::vector<Registry::Device>> Registry::find(const std::string& devices) {
  Lock lock(mutex_);
  FV_TRY(open_all());
  std::vector<Device> all;
  for (const Entry& e : entries_)
    if (e.library && e.shadowed.empty())
      for (size_t i = 0; i < e.library->devices().size(); ++i)
        all.push_back({e.library, static_cast<int>(i)});
  const auto info = [](const Device& d) -> const fv_device_info& {
    return d.library->devices()[static_cast<size_t>(d.index)];
  };
  std::vector<Device> chosen;
  if (devices.empty() || devices == "auto") {
    for (const Device& d : all)
      if (info(d).score > 0) chosen.push_back(d);
    std::stable_sort(chosen.begin(), chosen.end(), [&](const Device& a, const Device& b) {
      return info(a).score > info(b).score;
    });
    if (!chosen.empty()) return chosen;
  }
  std::string names;
  for (const Device& d : all) names += (names.empty() ? "" : ", ") + std::string(info(d).name);
  for (const std::string& name : split(devices == "auto" ? "" : devices, ',')) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Device& d) { return name == info(d).name; });
    if (found == all.end()) {
      std::string why;
      for (const Entry& e : entries_)
        if (!e.error.empty()) why += "; " + e.error;
      return Status(
          FV_NOT_FOUND,
          "no device '" + name + "'; there are: " + (names.empty() ? "none" : names) + why,
          "run `foveal plugins` to see all plugins and devices");
    }
    if (info(*found).score <= 0)
      return Status(FV_PLUGIN_ERROR,
                    "device '" + name + "' cannot be used here: " + info(*found).reason);
    chosen.push_back(*found);
  }
  if (chosen.empty())
    return Status(FV_NOT_FOUND,
                  "no usable device; plugins found: " + std::to_string(entries_.size()),
                  "install a backend plugin or set FOVEAL_PLUGIN_PATH");
  return chosen;
}

Result<std::string> Registry::json() {
  Lock lock(mutex_);
  FV_TRY(open_all());
  std::string out = "[";
  for (const Entry& e : entries_) {
    if (out.size() > 1) out += ",";
    const bool open = e.library != nullptr;
    const char* state = !open ? "failed" : e.shadowed.empty() ? "ready" : "shadowed";
    out += "{\"name\":" + json_quote(open ? e.library->name() : "") +
           ",\"version\":" + json_quote(open ? e.library->version() : "") + ",\"vendor\":" +
           json_quote(open && e.library->api().vendor ? e.library->api().vendor : "") +
           ",\"path\":" + json_quote(e.path) + ",\"state\":\"" + state +
           "\",\"reason\":" + json_quote(open ? e.shadowed : e.error) + ",\"devices\":[";
    if (open) {
      for (size_t i = 0; i < e.library->devices().size(); ++i) {
        const fv_device_info& d = e.library->devices()[i];
        out += std::string(i ? "," : "") + "{\"name\":" + json_quote(d.name) +
               ",\"detail\":" + json_quote(d.detail) + ",\"score\":" + std::to_string(d.score) +
               ",\"reason\":" + json_quote(d.reason) + "}";
      }
    }
    out += "]}";
  }
  return out + "]";
}

}  // namespace foveal
