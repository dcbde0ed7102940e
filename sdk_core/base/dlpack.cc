#include "base/dlpack.h"

#include "base/dtype.h"
#include "base/tensor_type.h"

namespace foveal {
namespace {

struct Row {
  fv_dtype dtype;
  uint8_t code, bits;
};
constexpr Row kRows[] = {
    {FV_FLOAT32, 2, 32}, {FV_FLOAT16, 2, 16}, {FV_BFLOAT16, 4, 16}, {FV_FLOAT64, 2, 64},
    {FV_INT8, 0, 8},     {FV_UINT8, 1, 8},    {FV_INT16, 0, 16},    {FV_UINT16, 1, 16},
    {FV_INT32, 0, 32},   {FV_UINT32, 1, 32},  {FV_INT64, 0, 64},    {FV_UINT64, 1, 64},
    {FV_BOOL, 6, 8},
};

struct Owned {
  DLManagedTensor managed;
  int64_t shape[FV_MAX_RANK];
  std::shared_ptr<void> owner;
};

}  // namespace

Status view_of_dlpack(const DLManagedTensor* managed, fv_tensor* out) {
  const DLTensor& t = managed->dl_tensor;
  if (t.device.device_type != 1)
    return Status(
        FV_INVALID_ARGUMENT,
        format("DLPack tensor is on device type %d, expected 1 (CPU)", t.device.device_type),
        "copy it to host memory first");
  if (t.ndim < 0 || t.ndim > FV_MAX_RANK)
    return Status(FV_SHAPE_ERROR,
                  format("DLPack tensor has rank %d, expected 0 to %d", t.ndim, FV_MAX_RANK));
  fv_tensor view{};
  view.abi = out->abi;
  for (const Row& r : kRows)
    if (r.code == t.dtype.code && r.bits == t.dtype.bits && t.dtype.lanes == 1)
      view.dtype = r.dtype;
  if (!view.dtype)
    return Status(FV_INVALID_ARGUMENT,
                  format("DLPack type code %d with %d bits and %d lanes has no counterpart",
                         t.dtype.code, t.dtype.bits, t.dtype.lanes));
  TensorType type{view.dtype, Dims(t.shape, t.shape + t.ndim)};
  int64_t stride = 1;
  for (int i = t.ndim - 1; i >= 0; --i) {
    if (t.strides && t.shape[i] > 1 && t.strides[i] != stride)
      return Status(FV_SHAPE_ERROR,
                    "DLPack tensor of shape " + to_string(type.dims) + " is not dense row-major",
                    "make it contiguous first");
    stride *= t.shape[i];
  }
  const int64_t bytes = storage_bytes(type, kPlain);
  if (bytes < 0)
    return Status(FV_SHAPE_ERROR, "DLPack shape " + to_string(type.dims) + " is not valid");
  view.name = "";
  view.data = static_cast<char*>(t.data) + t.byte_offset;
  view.bytes = static_cast<uint64_t>(bytes);
  view.rank = t.ndim;
  for (int i = 0; i < t.ndim; ++i) view.dims[i] = t.shape[i];
  view.layout = kPlain;
  *out = view;
  return ok();
}

Result<DLManagedTensor*> dlpack_of_view(const fv_tensor& view, std::shared_ptr<void> owner) {
  auto* o = new Owned{};
  o->owner = std::move(owner);
  for (int i = 0; i < view.rank; ++i) o->shape[i] = view.dims[i];
  DLTensor& t = o->managed.dl_tensor;
  t.data = view.data;
  t.device = {1, 0};
  t.ndim = view.rank;
  for (const Row& r : kRows)
    if (r.dtype == view.dtype) t.dtype = {r.code, r.bits, 1};
  t.shape = o->shape;
  o->managed.manager_ctx = o;
  o->managed.deleter = [](DLManagedTensor* self) { delete static_cast<Owned*>(self->manager_ctx); };
  return &o->managed;
}

}  // namespace foveal
