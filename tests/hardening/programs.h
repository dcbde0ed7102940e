// How the programs of this folder begin.
#ifndef FOVEAL_TESTS_HARDENING_PROGRAMS_H_
#define FOVEAL_TESTS_HARDENING_PROGRAMS_H_

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/check.h"
#include "foveal/foveal.h"

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

}  // namespace foveal
#endif  // FOVEAL_TESTS_HARDENING_PROGRAMS_H_
