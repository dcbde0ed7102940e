#include "base/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(_WIN32)
#include <process.h>
#define FV_PID _getpid()
#elif defined(__wasm__)
#include <unistd.h>
#define FV_PID 0  // one program per file system
#else
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#define FV_PID getpid()
#define FV_HAS_LINKS 1
#endif

namespace foveal {

namespace {

Status io_error(const char* what, const std::string& path) {
  const int code = errno;
  return Status(code == ENOMEM ? FV_OUT_OF_MEMORY : FV_IO_ERROR,
                std::string(what) + " '" + path + "': " + std::strerror(code),
                "check that the folder exists, is writable and has room");
}

// Closed and removed with the object, unless it took its place before.
struct Temporary {
  std::string path;
  std::FILE* file = nullptr;
  bool close() {
    const bool good = !file || std::fclose(file) == 0;
    file = nullptr;
    return good;
  }
  ~Temporary() {
    close();
    if (!path.empty()) std::remove(path.c_str());
  }
};

bool write(const std::vector<FilePart>& parts, std::FILE* file) {
  bool good = true;
  for (const FilePart& part : parts)
    good = good && std::fwrite(part.data, 1, part.bytes, file) == part.bytes;
  return good && std::fflush(file) == 0;
}

// The file that a link leads to; `path` itself where there is none.
std::string behind_links(const std::string& path) {
#if defined(FV_HAS_LINKS)
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         std::free);
  if (real) return real.get();
#endif
  return path;
}

// What is there and neither a file nor a folder: it is written, not replaced.
bool is_device(const std::string& path) {
#if defined(FV_HAS_LINKS)
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
#else
  (void)path;
  return false;
#endif
}

Status write_device(const std::string& path, const std::vector<FilePart>& parts) {
  Temporary t;
  t.file = std::fopen(path.c_str(), "wb");
  if (!t.file || !write(parts, t.file) || !t.close()) return io_error("cannot write", path);
  return ok();
}

}  // namespace

Status write_file_atomically(const std::string& given, const std::vector<FilePart>& parts) {
  static std::atomic<unsigned> serial{0};
  const std::string path = behind_links(given);
  if (is_device(path)) return write_device(path, parts);
  Temporary t;
  std::string name = path + format(".%ld-%u.tmp", static_cast<long>(FV_PID), serial.fetch_add(1));
  t.file = std::fopen(name.c_str(), "wb");
  if (!t.file) return io_error("cannot write", given);
  t.path = std::move(name);
  bool good = write(parts, t.file);
#if !defined(_WIN32)
  good = good && fsync(fileno(t.file)) == 0;
#endif
  if (!good) return io_error("cannot write", given);
  if (!t.close()) return io_error("cannot write", given);
  if (std::rename(t.path.c_str(), path.c_str()) != 0) return io_error("cannot replace", given);
  t.path.clear();
  return ok();
}

}  // namespace foveal
