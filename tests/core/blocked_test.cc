// Layout conversions against the index formula, and DLPack both ways.
#include "base/blocked.h"

#include <cstring>
#include <memory>
#include <vector>

#include "base/dlpack.h"
#include "check.h"

using namespace foveal;

static void check_conversion(const Dims& dims, int block) {
  const TensorType type{FV_FLOAT32, dims};
  const auto count = static_cast<size_t>(element_count(dims));
  std::vector<float> plain(count), back(count, -1);
  for (size_t i = 0; i < count; ++i) plain[i] = static_cast<float>(i + 1);
  std::vector<float> packed(static_cast<size_t>(storage_bytes(type, blocked(block))) / 4, -7);
  CHECK(convert_layout(type, plain.data(), kPlain, packed.data(), blocked(block)));
  const int64_t channels = dims[1];
  int64_t inner = 1;
  for (size_t i = 2; i < dims.size(); ++i) inner *= dims[i];
  const int64_t blocks = (channels + block - 1) / block;
  for (int64_t n = 0; n < dims[0]; ++n)
    for (int64_t b = 0; b < blocks; ++b)
      for (int64_t i = 0; i < inner; ++i)
        for (int64_t x = 0; x < block; ++x) {
          const int64_t c = b * block + x;
          const float expected =
              c < channels ? plain[static_cast<size_t>((n * channels + c) * inner + i)] : 0.f;
          CHECK_EQ(packed[static_cast<size_t>(((n * blocks + b) * inner + i) * block + x)],
                   expected);
        }
  CHECK(convert_layout(type, packed.data(), blocked(block), back.data(), kPlain));
  CHECK(back == plain);
  // Through another block size and back.
  std::vector<float> other(static_cast<size_t>(storage_bytes(type, blocked(4))) / 4);
  CHECK(convert_layout(type, packed.data(), blocked(block), other.data(), blocked(4)));
  CHECK(convert_layout(type, other.data(), blocked(4), back.data(), kPlain));
  CHECK(back == plain);
}

int main() {
  for (const Dims& dims : {Dims{1, 3, 2, 5}, Dims{2, 16, 1, 1}, Dims{2, 17, 3, 2}, Dims{1, 1, 4},
                           Dims{3, 8, 2, 2}, Dims{1, 33, 1, 3, 2}})
    for (int block : {4, 8, 16}) check_conversion(dims, block);
  float a = 0, b = 0;
  CHECK(!convert_layout({FV_FLOAT32, {1, 1}}, &a, {FV_LAYOUT_CUSTOM, 0}, &b, kPlain));

  float data[6] = {1, 2, 3, 4, 5, 6};
  fv_tensor view{};
  view.abi = FV_ABI_INIT(fv_tensor);
  view.data = data;
  view.dtype = FV_FLOAT32;
  view.rank = 2;
  view.dims[0] = 2;
  view.dims[1] = 3;
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = owner;
  auto made = dlpack_of_view(view, std::move(owner));
  CHECK(made.ok());
  DLManagedTensor* managed = made.value();
  fv_tensor round{};
  round.abi = FV_ABI_INIT(fv_tensor);
  CHECK_OK(view_of_dlpack(managed, &round));
  CHECK(round.data == data && round.rank == 2 && round.dims[1] == 3 && round.bytes == 24);
  int64_t transposed[2] = {1, 2};
  managed->dl_tensor.strides = transposed;
  CHECK_ERROR(view_of_dlpack(managed, &round), FV_SHAPE_ERROR, "not dense");
  managed->dl_tensor.strides = nullptr;
  managed->dl_tensor.device.device_type = 2;
  CHECK_ERROR(view_of_dlpack(managed, &round), FV_INVALID_ARGUMENT, "device type 2");
  CHECK(!alive.expired());
  managed->deleter(managed);
  CHECK(alive.expired());
  return CHECK_RESULT();
}
