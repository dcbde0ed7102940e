// Decoder specs, and their runs over tensors of any shape and content, NaN and infinity included.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "foveal/imgproc.h"
#include "fuzz.h"

using namespace foveal::fuzz;

namespace {

constexpr int64_t kMaxElements = 1 << 14;

struct Tensor {
  std::string name;
  std::unique_ptr<float[]> data;
  fv_tensor view{};
};

// Every text in the spec may be the name of an output.
std::vector<std::string> names(std::string_view json) {
  std::vector<std::string> found;
  for (size_t a = json.find('"'); a != json.npos && found.size() < 64;) {
    const size_t b = json.find('"', a + 1);
    if (b == json.npos) break;
    // A value, not a key: what stands before it is no comma or brace.
    const size_t before = a ? json.find_last_not_of(" \t\n", a - 1) : json.npos;
    if (before != json.npos && json[before] == ':')
      found.emplace_back(json.substr(a + 1, b - a - 1));
    a = json.find('"', b + 1);
  }
  return found;
}

void fill(Tensor& t, int64_t count, Bytes& in) {
  static constexpr float kSpecial[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f, 0, -0.f};
  t.data = exact<float>(static_cast<size_t>(count));
  const int style = in.range(0, 3);
  for (int64_t i = 0; i < count; ++i) {
    const auto b = static_cast<uint8_t>(in.take<uint8_t>() + (style == 3 ? i * 37 : 0));
    t.data[static_cast<size_t>(i)] = style == 0 ? kSpecial[b % std::size(kSpecial)]
                                     : style == 1 || b % 8 < 6
                                         ? static_cast<float>(b) / 64 - 1.5f
                                         : kSpecial[b / 8 % std::size(kSpecial)];
  }
  t.view.data = t.data.get();
  t.view.bytes = static_cast<uint64_t>(count) * sizeof(float);
}

Tensor tensor_of(std::string name, Bytes& in) {
  Tensor t;
  t.name = std::move(name);
  t.view.abi = FV_ABI_INIT(fv_tensor);
  t.view.dtype = in.range(0, 15) ? FV_FLOAT32 : in.range(0, 14);
  t.view.rank = in.range(1, 4);
  int64_t count = 1;
  for (int i = 0; i < t.view.rank; ++i) {
    t.view.dims[i] = in.range(0, 3) == 0 ? 1 : in.range(0, 40);
    count *= t.view.dims[i];
  }
  if (count > kMaxElements) {
    t.view.rank = 1;
    t.view.dims[0] = count = kMaxElements;
  }
  t.view.layout = {FV_LAYOUT_PLAIN, 0};
  fill(t, count, in);
  return t;
}

// An error about a shape says which it expects; ? may be anything. Gives that to the tensor.
bool reshape(const char* error, std::vector<Tensor>& tensors, Bytes& in) {
  const char* quote = std::strstr(error, "output '");
  const char* shape = quote ? std::strstr(quote, "': expected shape [") : nullptr;
  if (!shape) return false;
  const std::string_view name(quote + 8, static_cast<size_t>(shape - quote - 8));
  for (Tensor& t : tensors) {
    if (t.name != name) continue;
    char* p = const_cast<char*>(shape + 19);
    int64_t count = 1;
    for (t.view.rank = 0; t.view.rank < FV_MAX_RANK && *p != ']' && *p; ++t.view.rank) {
      const bool any = *p == '?';
      t.view.dims[t.view.rank] = any ? in.range(0, 5) : std::strtoll(p, &p, 10);
      p += any;
      count *= t.view.dims[t.view.rank];
      if (count > kMaxElements) return false;
      while (*p == ',' || *p == ' ') ++p;
    }
    t.view.dtype = FV_FLOAT32;
    fill(t, count, in);
    return true;
  }
  return false;
}

fv_transform transform_of(Bytes& in) {
  fv_transform t{};
  t.abi = FV_ABI_INIT(fv_transform);
  const bool wild = in.range(0, 7) == 0;
  for (int i = 0; i < 9; ++i) {
    t.to_upright[i] = wild ? in.take<double>() : i % 4 == 0;
    t.from_upright[i] = wild ? in.take<double>() : i % 4 == 0;
  }
  t.tensor_width = in.range(-1, 80);
  t.tensor_height = in.range(0, 3) ? t.tensor_width : in.range(-1, 80);
  t.frame_width = in.range(0, 90);
  t.frame_height = in.range(0, 90);
  t.rotation = 90 * in.range(0, 3);
  t.mirror = in.range(0, 1);
  return t;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const std::string_view text = in.text();
  const auto copy = exact_copy(text);
  fv_decoder* decoder = nullptr;
  if (failed(
          fv_decoder_from_json(reinterpret_cast<const char*>(copy.get()), text.size(), &decoder)))
    return 0;
  const std::string canonical = fv_decoder_json(decoder);
  fv_decoder* reread = nullptr;
  expect(!failed(fv_decoder_from_json(canonical.data(), canonical.size(), &reread)),
         "the canonical text of a decoder is a spec");
  expect(canonical == fv_decoder_json(reread), "the canonical text of a decoder is canonical");
  fv_decoder_free(reread);

  std::vector<Tensor> tensors;
  for (const std::string& name : names(canonical)) tensors.push_back(tensor_of(name, in));
  const fv_transform transform = transform_of(in);
  const int32_t capacity = std::min(fv_decoder_max(decoder), in.range(0, 50));
  const auto room = static_cast<size_t>(capacity);
  auto found = exact<fv_detection>(room);
  auto points = exact<float>(room * static_cast<size_t>(fv_decoder_points(decoder)) *
                             static_cast<size_t>(fv_decoder_point_values(decoder)));
  const int32_t width = std::max(0, transform.frame_width),
                height = std::max(0, transform.frame_height);
  auto mask = exact<float>(static_cast<size_t>(width) * static_cast<size_t>(height));
  auto symbols = exact<int32_t>(room);
  auto scores = exact<float>(room);
  const auto run = [&](const std::vector<fv_tensor>& views, int32_t* count) {
    switch (fv_decoder_gives(decoder)) {
      case FV_MASK:
        return fv_decoder_run_mask(decoder, views.data(), views.size(), &transform, mask.get(),
                                   width, height);
      case FV_TEXT:
        return fv_decoder_run_text(decoder, views.data(), views.size(), symbols.get(), scores.get(),
                                   capacity, count);
      default:
        return fv_decoder_run(decoder, views.data(), views.size(), &transform, found.get(),
                              points.get(), capacity, count);
    }
  };
  int32_t count = 0;
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::vector<fv_tensor> views;
    for (Tensor& t : tensors) {
      t.view.name = t.name.c_str();
      views.push_back(t.view);
    }
    fv_status* status = run(views, &count);
    const bool again = status && reshape(fv_status_message(status), tensors, in);
    if (failed(status)) {
      if (again) continue;
      break;
    }
    if (fv_decoder_gives(decoder) == FV_MASK) {
      for (int32_t i = 0; i < width * height; ++i)
        expect(mask[static_cast<size_t>(i)] >= 0 && mask[static_cast<size_t>(i)] <= 1,
               "a mask is 0 to 1");
    } else if (fv_decoder_gives(decoder) == FV_TEXT) {
      for (int32_t i = 0; i < std::min(count, capacity); ++i)
        expect(std::isfinite(scores[static_cast<size_t>(i)]), "scores are finite");
    } else {
      expect(count >= 0 && count <= capacity, "no more detections than there is room for");
      for (int32_t i = 0; i < count; ++i) {
        expect(std::isfinite(found[static_cast<size_t>(i)].score), "scores are finite");
        for (const float v : found[static_cast<size_t>(i)].box)
          expect(!std::isnan(v), "boxes are no NaN");
      }
    }
    break;
  }
  fv_decoder_free(decoder);
  return 0;
}
