// ROI rules: read, apply to boxes and points of any kind, read the canonical text again.
#include <cmath>
#include <string>

#include "foveal/imgproc.h"
#include "fuzz.h"

using namespace foveal::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const std::string_view text = in.text();
  const auto copy = exact_copy(text);
  fv_roi_rule* rule = nullptr;
  if (failed(fv_roi_rule_from_json(reinterpret_cast<const char*>(copy.get()), text.size(), &rule)))
    return 0;
  const std::string canonical = fv_roi_rule_json(rule);
  fv_roi_rule* reread = nullptr;
  expect(!failed(fv_roi_rule_from_json(canonical.data(), canonical.size(), &reread)),
         "the canonical text of a rule is a rule");
  expect(canonical == fv_roi_rule_json(reread), "the canonical text of a rule is canonical");
  fv_roi_rule_free(reread);
  for (int attempt = 0; attempt < 4; ++attempt) {
    const int32_t count = in.range(0, 30), values = in.range(1, 5);
    const bool wild = in.range(0, 3) == 0;
    const auto number = [&] { return wild ? in.take<float>() : in.range(-200, 200) / 2.0f; };
    auto box = exact<float>(4);
    for (int i = 0; i < 4; ++i) box[static_cast<size_t>(i)] = number();
    const auto floats = static_cast<size_t>(count * values);
    auto points = exact<float>(floats);
    for (size_t i = 0; i < floats; ++i) points[i] = number();
    fv_roi roi{};
    if (failed(fv_roi_rule_apply(rule, in.range(0, 7) ? box.get() : nullptr,
                                 count ? points.get() : nullptr, count, values, &roi)))
      continue;
    expect(roi.kind == FV_ROI_ROTATED, "a rule gives a rotated region");
    for (int i = 0; i < 5; ++i) expect(std::isfinite(roi.v[i]), "a region is finite");
    expect(roi.v[2] > 0 && roi.v[3] > 0, "a region has an area");
  }
  fv_roi_rule_free(rule);
  return 0;
}
