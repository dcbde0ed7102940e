// An opened plugin. Every object a plugin made holds a shared_ptr to its Library, so that the code
// stays mapped until the last of them is gone.
#ifndef FOVEAL_PLUGIN_LIBRARY_H_
#define FOVEAL_PLUGIN_LIBRARY_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "foveal/plugin.h"

namespace foveal {

// The folder where an installation keeps its plugins: foveal/plugins beside libfoveal. "" where
// libfoveal is part of the program, or the platform does not tell.
std::string installed_plugins();

class Library {
 public:
  // Opens a file, checks symbol, ABI and table, and calls the plugin's open(). Errors name the
  // file and what is wrong with it.
  static Result<std::shared_ptr<Library>> open(const std::string& path);
  // A table linked into the process.
  static Result<std::shared_ptr<Library>> open_static(fv_plugin_entry entry);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // An entry the plugin's version of the table has and fills; otherwise nullptr.
  template <class F>
  F entry(F fv_plugin_api::* member) const {
    const auto end = reinterpret_cast<const char*>(&(api_->*member) + 1);
    const bool has =
        static_cast<size_t>(end - reinterpret_cast<const char*>(api_)) <= api_->abi.struct_size;
    return has ? api_->*member : nullptr;
  }
  const fv_plugin_api& api() const { return *api_; }
  fv_plugin* plugin() const { return plugin_; }
  const std::string& path() const { return path_; }  // "" for static tables
  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  const std::vector<fv_device_info>& devices() const { return devices_; }

 private:
  Library() = default;
  Status start(const fv_plugin_api* api);

  void* handle_ = nullptr;
  const fv_plugin_api* api_ = nullptr;
  fv_plugin* plugin_ = nullptr;
  std::string path_, name_, version_;
  std::vector<fv_device_info> devices_;
};

// A backend of one session, with its library.
class Backend {
 public:
  static Result<std::shared_ptr<Backend>> create(std::shared_ptr<Library> library, int device);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  const Library& library() const { return *library_; }
  const fv_device_info& device() const { return library_->devices()[static_cast<size_t>(device_)]; }
  bool host_memory() const { return (device().flags & FV_DEVICE_HOST_MEMORY) != 0; }
  fv_backend* get() const { return backend_; }
  fv_support supports(const fv_node& node) const;
  bool fuses(const fv_node& node, const fv_node& post, int chain_input) const;
  // Whether an answer since the last call was "no" only because the backend had no memory.
  bool take_starved() const { return std::exchange(starved_, false); }

 private:
  Backend() = default;
  std::shared_ptr<Library> library_;
  int device_ = 0;
  mutable bool starved_ = false;
  fv_backend* backend_ = nullptr;
};

// A compiled segment. Destroyed before its backend.
class Program {
 public:
  static Result<std::unique_ptr<Program>> compile(std::shared_ptr<Backend> backend,
                                                  const fv_segment& segment);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  const Backend& backend() const { return *backend_; }
  uint64_t workspace() const;
  Status run(const fv_run& run, int32_t* pending);
  Status resume(int32_t wait, int32_t* pending);

 private:
  Program() = default;
  std::shared_ptr<Backend> backend_;
  fv_program* program_ = nullptr;
};

// Memory of a device. Destroyed before its backend.
class DeviceBuffer {
 public:
  static Result<std::unique_ptr<DeviceBuffer>> create(std::shared_ptr<Backend> backend,
                                                      uint64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  fv_buffer* get() const { return buffer_; }
  Status write(const void* src, uint64_t bytes);
  Status read(void* dst, uint64_t bytes);

 private:
  DeviceBuffer() = default;
  std::shared_ptr<Backend> backend_;
  fv_buffer* buffer_ = nullptr;
};

}  // namespace foveal
#endif  // FOVEAL_PLUGIN_LIBRARY_H_
