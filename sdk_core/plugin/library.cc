#include "plugin/library.h"

#include <cctype>
#include <cerrno>
#include <cstring>

#include "plugin/host.h"

#if defined(_WIN32)
#include <windows.h>
#elif !defined(__wasm__)
#include <dlfcn.h>
#define FV_HAS_DLOPEN 1
#endif
#if defined(__linux__)
#include <elf.h>

#include <cstdio>
#endif

namespace foveal {
namespace {

Status plugin_error(const std::string& path, const std::string& what, std::string hint) {
  return Status(FV_PLUGIN_ERROR, "plugin '" + path + "': " + what, std::move(hint));
}

#if defined(__linux__)
// glibc maps what the headers promise and dies of SIGBUS when the file is shorter. Anything that
// is not ELF of our class is left to dlopen, which says what is wrong with it.
bool is_truncated(const std::string& path) {
#if __SIZEOF_POINTER__ == 8
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  constexpr unsigned char kClass = ELFCLASS64;
#else
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  constexpr unsigned char kClass = ELFCLASS32;
#endif
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file || std::fseek(file.get(), 0, SEEK_END) != 0) return false;
  const long end = std::ftell(file.get());
  const uint64_t size = end < 0 ? 0 : static_cast<uint64_t>(end);
  Header header;
  std::rewind(file.get());
  if (std::fread(&header, sizeof(header), 1, file.get()) != 1) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != kClass)
    return false;
  // Offsets are untrusted: compare by subtraction, which cannot overflow.
  const auto inside = [&](uint64_t offset, uint64_t bytes) {
    return offset <= size && bytes <= size - offset;
  };
  if (!inside(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Segment)) ||
      !inside(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize))
    return true;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Segment segment;
    const uint64_t at = header.e_phoff + uint64_t{i} * header.e_phentsize;
    if (!inside(at, sizeof(segment))) return true;
    if (std::fseek(file.get(), static_cast<long>(at), SEEK_SET) != 0 ||
        std::fread(&segment, sizeof(segment), 1, file.get()) != 1)
      return true;
    if (segment.p_type == PT_LOAD && !inside(segment.p_offset, segment.p_filesz)) return true;
  }
  return false;
}
#endif

struct Opened {
  void* handle = nullptr;
  void* symbol = nullptr;
  std::string error;
  bool no_memory = false;
};

Opened open_library([[maybe_unused]] const std::string& path) {
  Opened o;
#if defined(_WIN32)
  o.handle = reinterpret_cast<void*>(LoadLibraryA(path.c_str()));
  if (!o.handle)
    o.error = format("error %lu", GetLastError());
  else
    o.symbol =
        reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(o.handle), FV_PLUGIN_SYMBOL));
#elif defined(FV_HAS_DLOPEN)
#if defined(__linux__)
  if (is_truncated(path)) {
    o.error = "the file is truncated";
    return o;
  }
#endif
  o.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!o.handle) {
    const char* text = dlerror();
    o.error = text ? text : "unknown reason";
    // There is nothing but the text to tell this by.
    o.no_memory = o.error == "out of memory" || o.error.ends_with(std::strerror(ENOMEM));
  } else {
    o.symbol = dlsym(o.handle, FV_PLUGIN_SYMBOL);
  }
#else
  o.error = "this platform has no shared libraries: use fv_plugin_add_static";
#endif
  return o;
}

void close_library(void* handle) {
  if (!handle) return;
#if defined(_WIN32)
  FreeLibrary(static_cast<HMODULE>(handle));
#elif defined(FV_HAS_DLOPEN)
  dlclose(handle);
#endif
}

bool valid_name(const char* name) {
  if (!name || !*name || std::strlen(name) > 48) return false;
  for (const char* p = name; *p; ++p)
    if (!(std::islower(static_cast<unsigned char>(*p)) ||
          std::isdigit(static_cast<unsigned char>(*p)) || *p == '_'))
      return false;
  return true;
}

}  // namespace

std::string installed_plugins() {
#if defined(FV_HAS_DLOPEN) && !defined(FOVEAL_STATIC)
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&installed_plugins), &info) || !info.dli_fname)
    return "";
  const std::string file = info.dli_fname;
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "" : file.substr(0, slash) + "/foveal/plugins";
#else
  return "";
#endif
}

Result<std::shared_ptr<Library>> Library::open(const std::string& path) {
  std::shared_ptr<Library> library(new Library);
  library->path_ = path;
  Opened opened = open_library(path);
  library->handle_ = opened.handle;
  if (opened.no_memory)
    return Status(FV_OUT_OF_MEMORY, "plugin '" + path + "' cannot be loaded: " + opened.error);
  if (!opened.handle)
    return plugin_error(path, "cannot be loaded: " + opened.error,
                        "reinstall it for this platform, or remove it");
  if (!opened.symbol)
    return plugin_error(path, "does not export '" FV_PLUGIN_SYMBOL "'",
                        "this is not a Foveal plugin, or it was linked with hidden symbols");
  const fv_plugin_api* api = reinterpret_cast<fv_plugin_entry>(opened.symbol)();
  FV_TRY(library->start(api));
  return library;
}

Result<std::shared_ptr<Library>> Library::open_static(fv_plugin_entry entry) {
  std::shared_ptr<Library> library(new Library);
  FV_TRY(library->start(entry()));
  return library;
}

Status Library::start(const fv_plugin_api* api) {
  const std::string where = path_.empty() ? "(linked in)" : path_;
  if (!api) return plugin_error(where, "returned no table", "ask its vendor");
  if (api->abi.abi_major != FV_ABI_MAJOR)
    return plugin_error(where,
                        format("is built for plugin ABI %d.%d, this runtime speaks %d.%d",
                               api->abi.abi_major, api->abi.abi_minor, FV_ABI_MAJOR, FV_ABI_MINOR),
                        "install the version of the plugin made for this runtime");
  // Everything up to `run` is required of version 1.0.
  if (api->abi.struct_size < offsetof(fv_plugin_api, run) + sizeof(api->run))
    return plugin_error(where,
                        format("table has %u bytes, version 1.0 needs %zu", api->abi.struct_size,
                               offsetof(fv_plugin_api, run) + sizeof(api->run)),
                        "ask its vendor");
  if (!valid_name(api->name) || !api->version)
    return plugin_error(where, "has no valid name or version",
                        "names are lower-case letters, digits and _");
  if (!api->open || !api->close || !api->device_count || !api->device_info ||
      !api->backend_create || !api->backend_destroy || !api->supports || !api->compile ||
      !api->program_info || !api->program_destroy || !api->run)
    return plugin_error(where, "leaves a required entry of its table empty", "ask its vendor");
  name_ = api->name;
  version_ = api->version;
  if (fv_status* s = api->open(host(), &plugin_))
    return Status(s).within("plugin '" + where + "' cannot start");
  api_ = api;
  const int32_t count = api->device_count(plugin_);
  for (int32_t i = 0; i < count && i < 256; ++i) {
    fv_device_info info{};
    info.abi = FV_ABI_INIT(fv_device_info);
    api->device_info(plugin_, i, &info);
    info.name[sizeof(info.name) - 1] = info.detail[sizeof(info.detail) - 1] =
        info.reason[sizeof(info.reason) - 1] = 0;
    devices_.push_back(info);
  }
  return ok();
}

Library::~Library() {
  if (api_) api_->close(plugin_);
  close_library(handle_);
}

Result<std::shared_ptr<Backend>> Backend::create(std::shared_ptr<Library> library, int device) {
  std::shared_ptr<Backend> backend(new Backend);
  backend->library_ = std::move(library);
  backend->device_ = device;
  const Library& l = *backend->library_;
  if (fv_status* s = l.api().backend_create(l.plugin(), device, nullptr, 0, &backend->backend_))
    return Status(s).within("device '" + std::string(backend->device().name) + "'");
  if (!backend->host_memory() &&
      !(l.entry(&fv_plugin_api::buffer_new) && l.entry(&fv_plugin_api::buffer_free) &&
        l.entry(&fv_plugin_api::buffer_write) && l.entry(&fv_plugin_api::buffer_read)))
    return plugin_error(l.path(), "has a device with its own memory but no buffer functions",
                        "ask its vendor");
  return backend;
}

Backend::~Backend() {
  if (backend_) library_->api().backend_destroy(backend_);
}

fv_support Backend::supports(const fv_node& node) const {
  fv_support answer{};
  answer.abi = FV_ABI_INIT(fv_support);
  library_->api().supports(backend_, &node, &answer);
  answer.reason[sizeof(answer.reason) - 1] = 0;
  if (answer.supported < 0) {
    starved_ = true;
    answer.supported = 0;
  }
  if (answer.in_layout.id == FV_LAYOUT_ANY) answer.out_layout = answer.in_layout;
  return answer;
}

bool Backend::fuses(const fv_node& node, const fv_node& post, int chain_input) const {
  const auto entry = library_->entry(&fv_plugin_api::fuses);
  const int32_t answer = entry ? entry(backend_, &node, &post, chain_input) : 0;
  if (answer < 0) starved_ = true;
  return answer > 0;
}

Result<std::unique_ptr<Program>> Program::compile(std::shared_ptr<Backend> backend,
                                                  const fv_segment& segment) {
  std::unique_ptr<Program> program(new Program);
  program->backend_ = std::move(backend);
  const Backend& b = *program->backend_;
  if (fv_status* s = b.library().api().compile(b.get(), &segment, &program->program_))
    return Status(s).within("device '" + std::string(b.device().name) + "'");
  return program;
}
Program::~Program() {
  if (program_) backend_->library().api().program_destroy(program_);
}

uint64_t Program::workspace() const {
  fv_program_info info{FV_ABI_INIT(fv_program_info), 0};
  backend_->library().api().program_info(program_, &info);
  return info.workspace;
}

Status Program::run(const fv_run& run, int32_t* pending) {
  *pending = 0;
  Status s(backend_->library().api().run(program_, &run, pending));
  if (s.ok() && *pending && !backend_->library().entry(&fv_plugin_api::resume))
    return plugin_error(backend_->library().path(), "left work pending but cannot resume",
                        "ask its vendor");
  return s;
}

Status Program::resume(int32_t wait, int32_t* pending) {
  *pending = 0;
  return Status(backend_->library().entry(&fv_plugin_api::resume)(program_, wait, pending));
}

Result<std::unique_ptr<DeviceBuffer>> DeviceBuffer::create(std::shared_ptr<Backend> backend,
                                                           uint64_t bytes) {
  std::unique_ptr<DeviceBuffer> buffer(new DeviceBuffer);
  buffer->backend_ = std::move(backend);
  const Backend& b = *buffer->backend_;
  if (fv_status* s = b.library().api().buffer_new(b.get(), bytes, &buffer->buffer_))
    return Status(s).within(format("buffer of %llu bytes on '%s'",
                                   static_cast<unsigned long long>(bytes), b.device().name));
  return buffer;
}
DeviceBuffer::~DeviceBuffer() {
  if (buffer_) backend_->library().api().buffer_free(buffer_);
}
Status DeviceBuffer::write(const void* src, uint64_t bytes) {
  return Status(backend_->library().api().buffer_write(buffer_, 0, src, bytes));
}
Status DeviceBuffer::read(void* dst, uint64_t bytes) {
  return Status(backend_->library().api().buffer_read(buffer_, 0, dst, bytes));
}

}  // namespace foveal
