#include "graph/mapped_file.h"

#include <cerrno>
#include <cstring>

#include "base/memory.h"

#if defined(_WIN32)
#include <cstdio>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace foveal {
namespace {

Status file_error(const std::string& path, int error) {
  return Status(error == ENOENT ? FV_NOT_FOUND : FV_IO_ERROR,
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

#if defined(_WIN32)

Result<MappedFile> map_file(const std::string& path) {
  std::FILE* f = std::fopen(path.c_str(), "rb");
  if (!f) return file_error(path, errno);
  std::string bytes;
  char chunk[1 << 16];
  for (size_t n; (n = std::fread(chunk, 1, sizeof(chunk), f)) > 0;) bytes.append(chunk, n);
  const bool bad = std::ferror(f) != 0;
  std::fclose(f);
  if (bad) return file_error(path, EIO);
  void* to = nullptr;
  auto block = heap_block(bytes.size(), &to);
  if (block.ok()) std::memcpy(to, bytes.data(), bytes.size());
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
