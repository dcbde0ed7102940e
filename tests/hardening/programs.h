// How the programs of this folder begin, and the arguments that they give.
#ifndef FOVEAL_TESTS_HARDENING_PROGRAMS_H_
#define FOVEAL_TESTS_HARDENING_PROGRAMS_H_

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/check.h"
#include "foveal/foveal.h"
#include "foveal/imgproc.h"
#include "frames.h"

namespace foveal {

// Silences the log, adds the CPU plugin; the .fvm files of the folder in the first argument,
// sorted.
inline std::vector<std::filesystem::path> begin_program(int argc, char** argv) {
  fv_log_set(FV_LOG_ERROR, [](void*, fv_log_level, const char*) {}, nullptr);
  CHECK_OK(Status(fv_plugin_add(FOVEAL_CPU_PLUGIN)));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argc > 1 ? argv[1] : "."))
    if (entry.path().extension() == ".fvm") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

inline fv_tensor tensor() {
  fv_tensor t{};
  t.abi = FV_ABI_INIT(fv_tensor);
  return t;
}

// What a pipeline is compiled for: its own size and channels.
inline fv_tensor open_image(fv_dtype dtype = FV_FLOAT32) {
  fv_tensor t = tensor();
  t.dtype = dtype;
  t.rank = 4;
  for (int64_t& d : t.dims) d = -1;
  t.layout = {FV_LAYOUT_PLAIN, 0};
  return t;
}

}  // namespace foveal
#endif  // FOVEAL_TESTS_HARDENING_PROGRAMS_H_
