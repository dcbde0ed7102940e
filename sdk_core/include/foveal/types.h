/* Types shared by applications (foveal.h) and backend plugins (plugin.h). C99.
 *
 * Every struct that crosses a library boundary and may grow begins with fv_abi: whoever
 * allocates it sets struct_size, whoever reads it looks no further than struct_size.
 */
#ifndef FOVEAL_TYPES_H_
#define FOVEAL_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FV_ABI_MAJOR 1 /* changes when an existing field or rule changes: no mixing */
#define FV_ABI_MINOR 1 /* changes when a field is appended: old and new mix freely */
#define FV_MAX_RANK 8
#define FV_ALIGNMENT 64 /* bytes; of every tensor, weight and workspace the core hands out */

typedef struct fv_abi {
  uint32_t struct_size; /* sizeof the struct, as its allocator compiled it */
  uint16_t abi_major;
  uint16_t abi_minor;
} fv_abi;

#define FV_ABI_INIT(type) {(uint32_t)sizeof(type), FV_ABI_MAJOR, FV_ABI_MINOR}

/* Element types. Values are stored in model files: never renumber. */
typedef int32_t fv_dtype;
enum {
  FV_FLOAT32 = 1,
  FV_FLOAT16 = 2,
  FV_BFLOAT16 = 3,
  FV_FLOAT64 = 4,
  FV_INT8 = 5,
  FV_UINT8 = 6,
  FV_INT16 = 7,
  FV_UINT16 = 8,
  FV_INT32 = 9,
  FV_UINT32 = 10,
  FV_INT64 = 11,
  FV_UINT64 = 12,
  FV_BOOL = 13 /* one byte, 0 or 1 */
};

/* Error codes. Stable: applications may switch on them. */
typedef int32_t fv_code;
enum {
  FV_OK = 0,
  FV_INVALID_ARGUMENT = 1,
  FV_OUT_OF_MEMORY = 2,
  FV_NOT_FOUND = 3,      /* a file, input, device or plugin of that name */
  FV_UNSUPPORTED_OP = 4, /* an operator, attribute or type no backend offers */
  FV_MODEL_ERROR = 5,    /* a model file or graph that is not valid */
  FV_SHAPE_ERROR = 6,
  FV_PLUGIN_ERROR = 7,
  FV_FRAME_ERROR = 8, /* an image whose planes, strides or size contradict each other */
  FV_SPEC_ERROR = 9,  /* a pipeline or decoder specification */
  FV_IO_ERROR = 10,
  FV_DEVICE_LOST = 11, /* create the session again */
  FV_INTERNAL = 12     /* a defect of ours: please report it */
};

/* An error. NULL means success, so the success path never allocates.
 * Made by the core (plugins: fv_host.status_new); freed with fv_status_free. */
typedef struct fv_status fv_status;

/* How a tensor lies in memory. Open set: ids >= FV_LAYOUT_CUSTOM belong to plugins.
 * The logical shape never changes with the layout. */
typedef struct fv_layout {
  int32_t id;
  int32_t block; /* FV_LAYOUT_NCXHWX: channels per block x; otherwise 0 */
} fv_layout;
enum {
  FV_LAYOUT_ANY = 0,    /* in a question or an answer only: no preference */
  FV_LAYOUT_PLAIN = 1,  /* dense row-major over the logical shape; NCHW for images */
  FV_LAYOUT_NCXHWX = 2, /* [N][ceil(C/x)][spatial...][x], rank >= 3; lanes past C hold zero */
  FV_LAYOUT_CUSTOM = 1024
};

/* A view of a tensor: owns nothing. */
typedef struct fv_tensor {
  fv_abi abi;
  const char* name;
  void* data;     /* NULL in a pure description */
  uint64_t bytes; /* of data, padding of blocked layouts included */
  fv_dtype dtype;
  int32_t rank;
  int64_t dims[FV_MAX_RANK]; /* logical; -1 = decided at run time */
  fv_layout layout;
} fv_tensor;

/* Work shared out over threads. See fv_parallel_for and fv_host.parallel_for.
 * task runs over [0, tasks); worker is in [0, threads) and unique among running calls. */
typedef struct fv_pool fv_pool;
typedef void (*fv_task)(void* ctx, int64_t task, int32_t worker);

#ifdef __cplusplus
}
#endif
#endif
