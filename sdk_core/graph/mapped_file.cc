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

Result<MappedFile> map_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return file_error(path, errno);
  struct stat info;
  int error = ::fstat(fd, &info) ? errno : 0;
  if (!error && S_ISDIR(info.st_mode)) error = EISDIR;
  if (!error && !S_ISREG(info.st_mode)) error = EINVAL;
  if (error) {
    ::close(fd);
    return file_error(path, error);
  }
  const auto bytes = static_cast<size_t>(info.st_size);
  if (bytes == 0) {
    ::close(fd);
    void* unused = nullptr;
    return heap_block(0, &unused);
  }
  void* p = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  error = errno;
  ::close(fd);
  if (p == MAP_FAILED) return file_error(path, error);
  return MappedFile{p, bytes, std::shared_ptr<const void>(p, [bytes](const void* m) {
                      ::munmap(const_cast<void*>(m), bytes);
                    })};
}

#endif

}  // namespace foveal
