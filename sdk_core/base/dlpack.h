// DLPack exchange: the ABI of dlpack.h version 0 (github.com/dmlc/dlpack), host memory only.
#ifndef FOVEAL_BASE_DLPACK_H_
#define FOVEAL_BASE_DLPACK_H_

#include <memory>

#include "base/status.h"
#include "foveal/types.h"

extern "C" {
typedef struct {
  int32_t device_type;  // 1 = CPU
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code;  // 0 int, 1 uint, 2 float, 4 bfloat, 6 bool
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // elements; NULL = dense row-major
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
}

namespace foveal {

// Fills `out` with a view of foreign memory, which stays the producer's.
Status view_of_dlpack(const DLManagedTensor* managed, fv_tensor* out);

// A tensor over `view.data` that keeps `owner` alive until its deleter is called.
Result<DLManagedTensor*> dlpack_of_view(const fv_tensor& view, std::shared_ptr<void> owner);

}  // namespace foveal
#endif  // FOVEAL_BASE_DLPACK_H_
