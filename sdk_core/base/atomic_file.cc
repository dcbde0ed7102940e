#include "base/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#if defined(_WIN32)
#include <process.h>
#define FV_PID _getpid()
#elif defined(__wasm__)
#include <unistd.h>
#define FV_PID 0  // one program per file system
#else
#include <unistd.h>
#define FV_PID getpid()
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

}  // namespace

Status write_file_atomically(const std::string& path, const std::vector<FilePart>& parts) {
  static std::atomic<unsigned> serial{0};
  Temporary t;
  std::string name = path + format(".%ld-%u.tmp", static_cast<long>(FV_PID), serial.fetch_add(1));
  t.file = std::fopen(name.c_str(), "wb");
  if (!t.file) return io_error("cannot write", path);
  t.path = std::move(name);
  bool good = true;
  for (const FilePart& part : parts)
    good = good && std::fwrite(part.data, 1, part.bytes, t.file) == part.bytes;
  good = good && std::fflush(t.file) == 0;
#if !defined(_WIN32)
  good = good && fsync(fileno(t.file)) == 0;
#endif
  if (!good) return io_error("cannot write", path);
  if (!t.close()) return io_error("cannot write", path);
  if (std::rename(t.path.c_str(), path.c_str()) != 0) return io_error("cannot replace", path);
  t.path.clear();
  return ok();
}

}  // namespace foveal
