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

static Status io_error(const std::string& what, const std::string& path) {
  const int code = errno;
  return Status(FV_IO_ERROR, what + " '" + path + "': " + std::strerror(code),
                "check that the folder exists, is writable and has room");
}

Status write_file_atomically(const std::string& path, const std::vector<FilePart>& parts) {
  static std::atomic<unsigned> serial{0};
  const std::string temporary =
      path + format(".%ld-%u.tmp", static_cast<long>(FV_PID), serial.fetch_add(1));
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (!file) return io_error("cannot write", path);
  bool good = true;
  for (const FilePart& part : parts)
    good = good && std::fwrite(part.data, 1, part.bytes, file) == part.bytes;
  good = good && std::fflush(file) == 0;
#if !defined(_WIN32)
  good = good && fsync(fileno(file)) == 0;
#endif
  Status error = good ? ok() : io_error("cannot write", path);
  if (std::fclose(file) != 0 && good) error = io_error("cannot write", path), good = false;
  if (good && std::rename(temporary.c_str(), path.c_str()) != 0) {
    error = io_error("cannot replace", path);
    good = false;
  }
  if (!good) std::remove(temporary.c_str());
  return error;
}

}  // namespace foveal
