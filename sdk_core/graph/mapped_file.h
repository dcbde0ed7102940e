#ifndef FOVEAL_GRAPH_MAPPED_FILE_H_
#define FOVEAL_GRAPH_MAPPED_FILE_H_

#include <memory>
#include <string>

#include "base/status.h"

namespace foveal {

// The bytes of a file, read-only, at an address that is a multiple of FV_ALIGNMENT.
struct MappedFile {
  const void* data = nullptr;  // never NULL on success, even of an empty file
  size_t bytes = 0;
  std::shared_ptr<const void> owner;
};

// FV_NOT_FOUND when there is no such file, FV_IO_ERROR with the system's reason otherwise.
// Files up to 16 MiB are read into memory, and all of them on platforms without mmap.
Result<MappedFile> map_file(const std::string& path);

}  // namespace foveal
#endif  // FOVEAL_GRAPH_MAPPED_FILE_H_
