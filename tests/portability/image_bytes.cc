// Pictures of noise through pipelines, and a hash of every tensor: equal on all machines where the
// specification promises equal bytes.
//
//     image_bytes CASES      a case a line: format width height rotation dtype roi spec
//
// roi: "-", or five numbers joined by commas: cx,cy,w,h,degrees. dtype: u8 or f32 (NHWC, NCHW).
// Prints a line per case: the hash, or what was refused. Exit status 2 if the file is none.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "foveal/foveal.h"
#include "foveal/imgproc.h"

namespace {

struct Format {
  const char* name;
  fv_pixel_format format;
  int planes;
  int bytes[3];  // between pixels
  bool half;     // chroma planes
};
constexpr Format kFormats[] = {
    {"rgb", FV_RGB, 1, {3}, false},     {"bgr", FV_BGR, 1, {3}, false},
    {"rgba", FV_RGBA, 1, {4}, false},   {"bgra", FV_BGRA, 1, {4}, false},
    {"gray", FV_GRAY, 1, {1}, false},   {"nv12", FV_NV12, 2, {1, 2}, true},
    {"nv21", FV_NV21, 2, {1, 2}, true}, {"i420", FV_I420, 3, {1, 1, 1}, true},
};

uint32_t state = 1;
uint8_t noise() { return static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 24); }

struct Case {
  char format[16], dtype[8], roi[128];
  int width, height, rotation;
  std::string spec;
};

const Format* find(const char* name) {
  for (const Format& f : kFormats)
    if (std::strcmp(f.name, name) == 0) return &f;
  return nullptr;
}

// False if `line` is no case.
bool parse(const char* line, Case& c) {
  int end = 0;
  if (std::sscanf(line, "%15s %d %d %d %7s %127s %n", c.format, &c.width, &c.height, &c.rotation,
                  c.dtype, c.roi, &end) != 6)
    return false;
  if (!find(c.format) || c.width < 1 || c.height < 1 || c.width > 8192 || c.height > 8192)
    return false;
  c.spec = line + end;
  while (!c.spec.empty() && std::strchr("\r\n", c.spec.back())) c.spec.pop_back();
  return true;
}

void print(fv_status* status) {
  std::printf("refused: %s\n", fv_status_text(status));
  fv_status_free(status);
}

void run(const Case& c) {
  const Format& f = *find(c.format);
  fv_frame frame = {};
  frame.abi.struct_size = sizeof(frame);
  frame.format = f.format;
  frame.width = c.width;
  frame.height = c.height;
  frame.rotation = c.rotation;
  frame.matrix = FV_BT601;
  frame.range = FV_LIMITED;
  frame.plane_count = f.planes;
  std::vector<uint8_t> plane[3];
  state = 1;
  for (int i = 0; i < f.planes; ++i) {
    const bool small = f.half && i > 0;
    const int width = small ? (c.width + 1) / 2 : c.width;
    const int height = small ? (c.height + 1) / 2 : c.height;
    plane[i].resize(static_cast<size_t>(width) * static_cast<size_t>(height) *
                    static_cast<size_t>(f.bytes[i]));
    for (uint8_t& v : plane[i]) v = noise();
    frame.planes[i].data = plane[i].data();
    frame.planes[i].bytes = plane[i].size();
  }
  fv_roi roi = {};
  roi.kind = FV_ROI_ROTATED;
  const bool given = std::sscanf(c.roi, "%lf,%lf,%lf,%lf,%lf", &roi.v[0], &roi.v[1], &roi.v[2],
                                 &roi.v[3], &roi.v[4]) == 5;
  const bool bytes = std::strcmp(c.dtype, "u8") == 0;
  fv_tensor tensor = {};
  tensor.abi.struct_size = sizeof(tensor);
  tensor.dtype = bytes ? FV_UINT8 : FV_FLOAT32;
  tensor.rank = 4;
  for (int i = 0; i < 4; ++i) tensor.dims[i] = -1;
  fv_image_spec* spec = nullptr;
  fv_image_plan* plan = nullptr;
  fv_status* status = fv_image_spec_from_json(c.spec.data(), c.spec.size(), &spec);
  if (!status) status = fv_image_plan_create(spec, &tensor, bytes ? FV_NHWC : FV_NCHW, &plan);
  std::vector<uint8_t> out;
  if (!status) {
    out.resize(fv_image_plan_bytes(plan));
    status = fv_image_plan_run(plan, &frame, given ? &roi : nullptr, out.data(), out.size(),
                               nullptr, nullptr);
  }
  fv_image_plan_free(plan);
  fv_image_spec_free(spec);
  if (status) return print(status);
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const uint8_t v : out) hash = (hash ^ v) * 1099511628211u;
  std::printf("%08lx%08lx\n", static_cast<unsigned long>(hash >> 32),
              static_cast<unsigned long>(hash & 0xffffffff));
}

}  // namespace

int main(int argc, char** argv) {
  FILE* file = argc == 2 ? std::fopen(argv[1], "r") : nullptr;
  if (!file) return 2;
  static char line[4096];
  while (std::fgets(line, sizeof(line), file)) {
    Case c;
    if (!parse(line, c)) return 2;
    run(c);
  }
  std::fclose(file);
  return 0;
}
