#include "graph/mapped_file.h"

#include <cerrno>
#include <cstring>

#include "base/memory.h"

#if defined(_WIN32) || defined(__wasm__)
#define FV_HAS_MMAP 0
#include <cstdio>
#else
#define FV_HAS_MMAP 1
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace foveal {
namespace {

Status file_error(const std::string& path, int error) {
  return Status(error == ENOENT   ? FV_NOT_FOUND
                : error == ENOMEM ? FV_OUT_OF_MEMORY
                                  : FV_IO_ERROR,
                "cannot open '" + path + "': " + std::strerror(error),
                error == ENOENT ? "check the path" : "");
}

Result<MappedFile> heap_block(size_t bytes, void** writable) {
  *writable = aligned_new(bytes);
  if (!*writable) return Status(FV_OUT_OF_MEMORY, format("no memory for %zu bytes", bytes));
  return MappedFile{*writable, bytes, std::shared_ptr<const void>(*writable, [](const void* p) {
                      aligned_free(const_cast<void*>(p));
                    })};
}

}  // namespace

#if !FV_HAS_MMAP

Result<MappedFile> map_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) return file_error(path, errno);
  const long end = std::fseek(file.get(), 0, SEEK_END) ? -1 : std::ftell(file.get());
  if (end < 0) return file_error(path, errno);
  std::rewind(file.get());
  void* to = nullptr;
  auto block = heap_block(static_cast<size_t>(end), &to);
  if (block.ok() &&
      std::fread(to, 1, static_cast<size_t>(end), file.get()) != static_cast<size_t>(end))
    return file_error(path, std::ferror(file.get()) && errno ? errno : EIO);
  return block;
}

#else

namespace {

// Up to this size reading costs no more than a few milliseconds, and what happens to the file later
// does not matter: behind the end of a mapped one that somebody shortened, a process dies of
// SIGBUS.
constexpr size_t kReadBytes = size_t{16} << 20;

Result<MappedFile> read_file(int fd, size_t bytes, const std::string& path) {
  void* to = nullptr;
  auto block = heap_block(bytes, &to);
  if (!block.ok()) return block;
  for (size_t at = 0; at < bytes;) {
    const ssize_t n = ::read(fd, static_cast<char*>(to) + at, bytes - at);
    if (n > 0) at += static_cast<size_t>(n);
    if (n == 0)
      return Status(FV_IO_ERROR, "cannot open '" + path + "': it became shorter while it was read",
                    "replace model files by renaming another over them");
    if (n < 0 && errno != EINTR) return file_error(path, errno);
  }
  return block;
}

}  // namespace

Result<MappedFile> map_file(const std::string& path) {
  // Not blocking: opening a pipe would wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return file_error(path, errno);
  const struct Closing {
    int fd;
    ~Closing() { ::close(fd); }
  } closing{fd};
  struct stat info;
  if (::fstat(fd, &info)) return file_error(path, errno);
  if (S_ISDIR(info.st_mode)) return file_error(path, EISDIR);
  if (!S_ISREG(info.st_mode))
    return Status(FV_IO_ERROR, "cannot open '" + path + "': it is a device or a pipe",
                  "copy the data to a file first");
  const auto bytes = static_cast<size_t>(info.st_size);
  if (bytes <= kReadBytes) return read_file(fd, bytes, path);
  void* p = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) return file_error(path, errno);
  return MappedFile{p, bytes, std::shared_ptr<const void>(p, [bytes](const void* m) {
                      ::munmap(const_cast<void*>(m), bytes);
                    })};
}

#endif

}  // namespace foveal
