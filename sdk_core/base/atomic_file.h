// Whole files or nothing: written beside the target, flushed, then renamed over it. Links are
// followed; a device or a pipe is written as it is.
#ifndef FOVEAL_BASE_ATOMIC_FILE_H_
#define FOVEAL_BASE_ATOMIC_FILE_H_

#include <string>
#include <vector>

#include "base/status.h"

namespace foveal {

struct FilePart {
  const void* data;
  size_t bytes;
};

// FV_IO_ERROR names the path and the system's reason; the target is then as it was.
Status write_file_atomically(const std::string& path, const std::vector<FilePart>& parts);

}  // namespace foveal
#endif  // FOVEAL_BASE_ATOMIC_FILE_H_
