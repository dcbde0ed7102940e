/* The interface between the core and a backend plugin. C99, no dependencies.
 *
 * A plugin is a shared library that exports one symbol, `foveal_plugin`, returning a table.
 * It links against nothing of the core: all services arrive as fv_host. No C++ type,
 * exception, FILE* or heap pointer to be freed by the other side crosses this line; whoever
 * made an object destroys it. C++ plugins use plugin.hpp, which turns this table into an
 * "operator name -> kernel" registry.
 *
 * Life of a plugin:   open -> device_info -> backend_create -> supports/fuses (planning)
 *                     -> compile -> run ... -> program_destroy -> backend_destroy -> close
 * The library stays loaded until the last object it made is destroyed.
 *
 * Threads: open/close/device_* are serialised by the core. One fv_backend is used by one
 * session, hence by one thread at a time. Distinct backends may be used concurrently.
 *
 * Growth rules: append fields only, bump FV_ABI_MINOR, add a line to ABI.md. Readers check
 * struct_size before they touch an appended field. Entries marked (optional) may be NULL.
 */
#ifndef FOVEAL_PLUGIN_H_
#define FOVEAL_PLUGIN_H_

#include "foveal/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Owned by the core; valid for the call that passes them, except where stated. */
typedef struct fv_node fv_node;       /* one operator, attributes and post-ops included */
typedef struct fv_value fv_value;     /* one tensor of the graph */
typedef struct fv_segment fv_segment; /* nodes in execution order, to be compiled as one */
typedef struct fv_trace fv_trace;
/* Owned by the plugin. */
typedef struct fv_plugin fv_plugin;
typedef struct fv_backend fv_backend;
typedef struct fv_program fv_program; /* a compiled segment */
typedef struct fv_buffer fv_buffer;   /* device memory */

/* ---- What the core tells ------------------------------------------------------------ */

enum { /* fv_value_info.flags */
       FV_VALUE_CONSTANT = 1,
       FV_VALUE_SEGMENT_INPUT = 2,  /* produced outside this segment */
       FV_VALUE_SEGMENT_OUTPUT = 4, /* needed outside this segment */
};

typedef struct fv_value_info {
  fv_abi abi;
  const char* name;
  const void* data; /* constants: plain layout, valid as long as the program; else NULL */
  uint64_t bytes;   /* size in memory, in this layout */
  fv_dtype dtype;
  int32_t rank;
  int64_t dims[FV_MAX_RANK]; /* logical and concrete: never -1 */
  fv_layout layout;          /* while planning may be FV_LAYOUT_ANY: not decided yet */
  int32_t slot;              /* index into fv_run.buffers; -1 for constants */
  int32_t flags;
} fv_value_info;

typedef struct fv_node_info {
  fv_abi abi;
  const char* name; /* for messages: where the node came from */
  const char* op;
  int32_t version;
  int32_t inputs; /* omitted optional inputs included */
  int32_t outputs;
  int32_t posts; /* operators fused behind this one */
} fv_node_info;

typedef int32_t fv_attr_type;
enum {
  FV_ATTR_INT = 1,
  FV_ATTR_FLOAT = 2,
  FV_ATTR_STRING = 3,
  FV_ATTR_INTS = 4,
  FV_ATTR_FLOATS = 5
};

typedef struct fv_attr {
  fv_abi abi;
  fv_attr_type type;
  int32_t reserved;
  uint64_t count;       /* elements of ints/floats, bytes of string */
  const int64_t* ints;  /* INT (count 1), INTS */
  const double* floats; /* FLOAT (count 1), FLOATS */
  const char* string;   /* STRING, zero-terminated */
} fv_attr;

/* A pointwise operator fused behind a node: y = post(..., y, ...), evaluated per element.
 * `node` is the original operator; the running value takes the place of its input
 * `chain_input`; a second operand, if any, is its other input. */
typedef struct fv_post {
  fv_abi abi;
  const fv_node* node;
  int32_t chain_input;
  int32_t reserved;
} fv_post;

typedef int32_t fv_log_level;
enum { FV_LOG_DEBUG = 0, FV_LOG_INFO = 1, FV_LOG_WARNING = 2, FV_LOG_ERROR = 3 };

/* Services of the core. The table outlives the plugin. */
typedef struct fv_host {
  fv_abi abi;

  /* 64-byte aligned; NULL when out of memory. */
  void* (*alloc)(size_t bytes);
  void (*dealloc)(void* p);
  void (*log)(fv_log_level level, const char* message);

  /* An error to return. op, hint may be NULL. Ownership goes to the receiver of the error. */
  fv_status* (*status_new)(fv_code code, int64_t native, const char* op, const char* message,
                           const char* hint);

  /* Graph accessors. `out->abi` is set by the caller. Pointers inside live as long as the node. */
  void (*node_info)(const fv_node* node, fv_node_info* out);
  const fv_value* (*node_input)(const fv_node* node, int32_t i); /* NULL: omitted */
  const fv_value* (*node_output)(const fv_node* node, int32_t i);
  int32_t (*node_attr)(const fv_node* node, const char* name, fv_attr* out); /* 0: not set */
  void (*node_post)(const fv_node* node, int32_t i, fv_post* out);
  void (*value_info)(const fv_value* value, fv_value_info* out);
  int32_t (*segment_size)(const fv_segment* segment);
  const fv_node* (*segment_node)(const fv_segment* segment, int32_t i);
  int32_t (*segment_threads)(const fv_segment* segment); /* most threads run will use */

  /* Derived weights, made once per model and shared by all its sessions. Calls fill(ctx, dst)
   * if (constant, key, this plugin) is new, and returns 64-byte aligned memory that lives as
   * long as the program. `key` names the packing completely (isa, tile, kind). NULL: no memory. */
  const void* (*packed)(const fv_segment* segment, const fv_value* constant, const char* key,
                        uint64_t bytes, void (*fill)(void* ctx, void* dst), void* ctx);

  /* Runs task(ctx, 0..tasks-1, worker) and returns when all are done. Results must not depend
   * on the number of threads. Does not allocate. */
  void (*parallel_for)(const fv_pool* pool, int64_t tasks, fv_task task, void* ctx);
  int32_t (*pool_threads)(const fv_pool* pool);

  /* Profiling; no-ops when run->trace is NULL, so test that first. */
  void (*trace_begin)(fv_trace* trace, const fv_node* node);
  void (*trace_end)(fv_trace* trace, const fv_node* node);

  /* Small persistent store for tuning results. get returns the size stored (0: none) and copies
   * at most `capacity` bytes; entries may vanish at any time. */
  uint64_t (*cache_get)(const char* key, void* dst, uint64_t capacity);
  void (*cache_put)(const char* key, const void* src, uint64_t bytes);
} fv_host;

/* ---- What a plugin answers ------------------------------------------------------------ */

enum { /* fv_device_info.flags */
       FV_DEVICE_HOST_MEMORY =
           1 /* reads and writes ordinary memory: the core plans all its buffers */
};

typedef struct fv_device_info {
  fv_abi abi;
  char name[64];    /* "cpu", "vulkan:0": what users pass as device= */
  char detail[128]; /* "AVX-512, 2 cores" */
  char reason[192]; /* why score is 0, or a remark */
  int32_t score;    /* 0 = not usable here; device="auto" takes the highest. CPU reference: 100 */
  int32_t flags;
} fv_device_info;

typedef struct fv_support {
  fv_abi abi;
  int32_t supported; /* 1 yes · 0 no: then reason says why · -1 no memory to tell */
  uint32_t in_place; /* bit i: the output may overwrite input i when nobody needs that any more */
  /* Wanted layout of all rank >= 3 float activations going in and coming out. ANY in both: the
   * node works in whatever layout its inputs share and produces the same. */
  fv_layout in_layout;
  fv_layout out_layout;
  double cost_us; /* estimate for one run, one thread; 0 = derive from the operator's cost */
  char reason[192];
} fv_support;

typedef struct fv_program_info {
  fv_abi abi;
  uint64_t workspace; /* bytes of scratch a run needs (fv_run.workspace) */
} fv_program_info;

typedef struct fv_run {
  fv_abi abi;
  /* By fv_value_info.slot. FV_DEVICE_HOST_MEMORY: addresses of every value of the segment.
   * Otherwise fv_buffer* for segment inputs and outputs, NULL for inner values. */
  void* const* buffers;
  void* workspace;
  const fv_pool* pool;
  fv_trace* trace; /* NULL unless profiling */
} fv_run;

typedef struct fv_option {
  const char* key;
  const char* value;
} fv_option;

typedef struct fv_plugin_api {
  fv_abi abi;
  const char* name;    /* [a-z0-9_]+, prefix of its device names */
  const char* version; /* semantic version of the plugin */
  const char* vendor;

  fv_status* (*open)(const fv_host* host, fv_plugin** out);
  void (*close)(fv_plugin* plugin);
  int32_t (*device_count)(fv_plugin* plugin); /* unusable devices included, with their reason */
  void (*device_info)(fv_plugin* plugin, int32_t device, fv_device_info* out);

  fv_status* (*backend_create)(fv_plugin* plugin, int32_t device, const fv_option* options,
                               size_t option_count, fv_backend** out);
  void (*backend_destroy)(fv_backend* backend);

  /* Sees the node as it would run: real types and shapes, post-ops included. */
  void (*supports)(fv_backend* backend, const fv_node* node, fv_support* out);
  /* (optional) 1: `post` may be fused behind `node` with the running value as its chain_input.
   * The core asks for pointwise operators only, in order; operands have the shape of the output
   * or are constants that broadcast to it. -1: no memory to tell. */
  int32_t (*fuses)(fv_backend* backend, const fv_node* node, const fv_node* post,
                   int32_t chain_input);

  fv_status* (*compile)(fv_backend* backend, const fv_segment* segment, fv_program** out);
  void (*program_info)(fv_program* program, fv_program_info* out);
  void (*program_destroy)(fv_program* program);
  /* Sets *pending = 1 if the work was only started: the core then calls resume. Must not
   * allocate after its first call. */
  fv_status* (*run)(fv_program* program, const fv_run* run, int32_t* pending);
  /* (optional) wait = 1 blocks until done; wait = 0 looks only. */
  fv_status* (*resume)(fv_program* program, int32_t wait, int32_t* pending);

  /* (optional, all four or none) Device memory. NULL for FV_DEVICE_HOST_MEMORY devices. */
  fv_status* (*buffer_new)(fv_backend* backend, uint64_t bytes, fv_buffer** out);
  void (*buffer_free)(fv_buffer* buffer);
  fv_status* (*buffer_write)(fv_buffer* buffer, uint64_t offset, const void* src, uint64_t bytes);
  fv_status* (*buffer_read)(fv_buffer* buffer, uint64_t offset, void* dst, uint64_t bytes);

  /* (optional) Named extension tables, e.g. import of AHardwareBuffer. NULL: unknown name. */
  const void* (*extension)(fv_plugin* plugin, const char* name);
} fv_plugin_api;

typedef const fv_plugin_api* (*fv_plugin_entry)(void);
#define FV_PLUGIN_SYMBOL "foveal_plugin"

#if defined(_WIN32)
#define FV_PLUGIN_EXPORT __declspec(dllexport)
#else
#define FV_PLUGIN_EXPORT __attribute__((visibility("default"), used))
#endif

#ifdef __cplusplus
}
#endif
#endif
