// How the programs of this folder begin, and the arguments that they give.
#ifndef FOVEAL_TESTS_HARDENING_PROGRAMS_H_
#define FOVEAL_TESTS_HARDENING_PROGRAMS_H_

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/check.h"
#include "foveal/foveal.h"
#include "foveal/imgproc.h"

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

// A frame of one plane, which `pixels` fill.
inline fv_frame picture(fv_pixel_format format, int width, int height,
                        const std::vector<uint8_t>& pixels) {
  fv_frame frame{};
  frame.abi = FV_ABI_INIT(fv_frame);
  frame.format = format;
  frame.width = width;
  frame.height = height;
  frame.plane_count = 1;
  frame.planes[0] = {pixels.data(), pixels.size(), 0, 0};
  return frame;
}

}  // namespace foveal
#endif  // FOVEAL_TESTS_HARDENING_PROGRAMS_H_
