/* A plugin in plain C99 over plugin.h alone: relu on float32. Macros, set by the tests, turn it
 * into one that is broken, slow to answer or has memory of its own; each is a whole behaviour:
 *
 *   MINI_NAME, MINI_VERSION plugin and device name, version
 *   MINI_SYMBOL             exported function, foveal_plugin
 *   MINI_MAJOR, MINI_SIZE   ABI version and struct_size it claims
 *   MINI_SCORE, MINI_REASON device score and its reason
 *   MINI_OPEN_FAILS, MINI_COMPILE_FAILS, MINI_RUN_FAILS   that call returns an error
 *   MINI_PENDING n          run answers "pending", resume n - 1 times more, then computes
 *   MINI_DEVICE_MEMORY      buffers live on a "device" that stores every byte inverted
 *   MINI_NO_COMPILE         a required entry of the table is NULL
 *   MINI_CRASHES, MINI_HANGS, MINI_WRONG   faults in run
 */
#include <stdlib.h>
#include <string.h>

#include "foveal/plugin.h"

#ifndef MINI_NAME
#define MINI_NAME "mini"
#endif
#ifndef MINI_VERSION
#define MINI_VERSION "0.1.0"
#endif
#ifndef MINI_SYMBOL
#define MINI_SYMBOL foveal_plugin
#endif
#ifndef MINI_MAJOR
#define MINI_MAJOR FV_ABI_MAJOR
#endif
#ifndef MINI_SIZE
#define MINI_SIZE sizeof(fv_plugin_api)
#endif
#ifndef MINI_SCORE
#define MINI_SCORE 5
#endif
#ifndef MINI_REASON
#define MINI_REASON ""
#endif
#ifndef MINI_PENDING
#define MINI_PENDING 0
#endif

struct fv_plugin {
  const fv_host* host;
};
struct fv_backend {
  const fv_host* host;
};
typedef struct step {
  const float* constant;
  int32_t in, out;
  uint64_t count;
} step;
struct fv_program {
  const fv_host* host;
  int32_t steps, slots, left;
  step* step;
  float** scratch; /* by slot: values that stay inside, on a device with memory of its own */
  void* const* buffers;
};
struct fv_buffer {
  unsigned char* bytes;
};

static fv_status* mini_open(const fv_host* host, fv_plugin** out) {
#ifdef MINI_OPEN_FAILS
  (void)out;
  return host->status_new(FV_PLUGIN_ERROR, 7, MINI_NAME, "the driver is too old", "update it");
#else
  *out = malloc(sizeof(fv_plugin));
  if (!*out) return host->status_new(FV_OUT_OF_MEMORY, 0, MINI_NAME, "no memory", NULL);
  (*out)->host = host;
  return NULL;
#endif
}
static void mini_close(fv_plugin* plugin) { free(plugin); }
static int32_t mini_device_count(fv_plugin* plugin) {
  (void)plugin;
  return 1;
}
static void mini_device_info(fv_plugin* plugin, int32_t device, fv_device_info* out) {
  (void)plugin;
  (void)device;
  strcpy(out->name, MINI_NAME);
  strcpy(out->detail, "plain C");
  strcpy(out->reason, MINI_REASON);
  out->score = MINI_SCORE;
#ifdef MINI_DEVICE_MEMORY
  out->flags = 0;
#else
  out->flags = FV_DEVICE_HOST_MEMORY;
#endif
}
static fv_status* mini_backend_create(fv_plugin* plugin, int32_t device, const fv_option* options,
                                      size_t option_count, fv_backend** out) {
  (void)device;
  (void)options;
  (void)option_count;
  *out = malloc(sizeof(fv_backend));
  if (!*out) return plugin->host->status_new(FV_OUT_OF_MEMORY, 0, MINI_NAME, "no memory", NULL);
  (*out)->host = plugin->host;
  return NULL;
}
static void mini_backend_destroy(fv_backend* backend) { free(backend); }

static fv_value_info info_of(const fv_host* host, const fv_value* value) {
  fv_value_info info;
  memset(&info, 0, sizeof(info));
  info.abi.struct_size = sizeof(info);
  info.abi.abi_major = FV_ABI_MAJOR;
  info.abi.abi_minor = FV_ABI_MINOR;
  host->value_info(value, &info);
  return info;
}
static fv_node_info node_of(const fv_host* host, const fv_node* node) {
  fv_node_info info;
  memset(&info, 0, sizeof(info));
  info.abi.struct_size = sizeof(info);
  info.abi.abi_major = FV_ABI_MAJOR;
  info.abi.abi_minor = FV_ABI_MINOR;
  host->node_info(node, &info);
  return info;
}

static void mini_supports(fv_backend* backend, const fv_node* node, fv_support* out) {
  const fv_node_info info = node_of(backend->host, node);
  if (strcmp(info.op, "relu") != 0) {
    strcpy(out->reason, "relu is all it can do");
    return;
  }
  if (info_of(backend->host, backend->host->node_input(node, 0)).dtype != FV_FLOAT32) {
    strcpy(out->reason, "float32 only");
    return;
  }
  out->supported = 1;
  out->in_layout.id = out->out_layout.id = FV_LAYOUT_PLAIN;
}

static void mini_program_destroy(fv_program* program) {
  int32_t i;
  if (!program) return;
  for (i = 0; i < program->slots; ++i) free(program->scratch[i]);
  free(program->scratch);
  free(program->step);
  free(program);
}

static fv_status* mini_compile(fv_backend* backend, const fv_segment* segment, fv_program** out) {
  const fv_host* host = backend->host;
#ifdef MINI_COMPILE_FAILS
  (void)segment;
  (void)out;
  return host->status_new(FV_PLUGIN_ERROR, 0, "relu", "the shader compiler gave up", NULL);
#else
  fv_program* p = calloc(1, sizeof(fv_program));
  int32_t i;
  p->host = host;
  p->steps = host->segment_size(segment);
  p->step = calloc((size_t)p->steps, sizeof(step));
  for (i = 0; i < p->steps; ++i) {
    const fv_node* node = host->segment_node(segment, i);
    const fv_value_info in = info_of(host, host->node_input(node, 0));
    const fv_value_info y = info_of(host, host->node_output(node, 0));
    p->step[i].constant = in.data;
    p->step[i].in = in.slot;
    p->step[i].out = y.slot;
    p->step[i].count = y.bytes / sizeof(float);
    if (in.slot >= p->slots) p->slots = in.slot + 1;
    if (y.slot >= p->slots) p->slots = y.slot + 1;
  }
  p->scratch = calloc((size_t)p->slots, sizeof(float*));
  for (i = 0; i < p->steps; ++i)
    if (!p->scratch[p->step[i].out])
      p->scratch[p->step[i].out] = calloc(p->step[i].count, sizeof(float));
  *out = p;
  return NULL;
#endif
}
static void mini_program_info(fv_program* program, fv_program_info* out) {
  (void)program;
  out->workspace = 0;
}

/* One float as the device stores it: every byte inverted. */
static float flipped(float value) {
  unsigned char b[sizeof(float)];
  size_t i;
  memcpy(b, &value, sizeof(b));
  for (i = 0; i < sizeof(b); ++i) b[i] = (unsigned char)~b[i];
  memcpy(&value, b, sizeof(b));
  return value;
}

static void compute(const fv_program* p, const step* s) {
  uint64_t i;
#ifdef MINI_DEVICE_MEMORY
  const fv_buffer* in = s->constant ? NULL : p->buffers[s->in];
  const fv_buffer* out = p->buffers[s->out];
  const float* src = s->constant ? s->constant : in ? (const float*)in->bytes : p->scratch[s->in];
  float* dst = out ? (float*)out->bytes : p->scratch[s->out];
  for (i = 0; i < s->count; ++i) {
    const float x = in ? flipped(src[i]) : src[i];
    const float y = x < 0 ? 0 : x;
    dst[i] = out ? flipped(y) : y;
  }
#else
  const float* src = s->constant ? s->constant : p->buffers[s->in];
  float* dst = p->buffers[s->out];
  (void)flipped;
  for (i = 0; i < s->count; ++i) dst[i] = src[i] < 0 ? 0 : src[i];
#ifdef MINI_WRONG
  dst[0] += 1;
#endif
#endif
}

static fv_status* mini_resume(fv_program* p, int32_t wait, int32_t* pending) {
  int32_t i;
  if (p->left > 0) --p->left;
  if (wait) p->left = 0;
  *pending = p->left > 0;
  if (!*pending)
    for (i = 0; i < p->steps; ++i) compute(p, &p->step[i]);
  return NULL;
}
static fv_status* mini_run(fv_program* p, const fv_run* run, int32_t* pending) {
#ifdef MINI_CRASHES
  abort();
#endif
#ifdef MINI_HANGS
  for (;;) {
  }
#endif
#ifdef MINI_RUN_FAILS
  (void)run;
  (void)pending;
  return p->host->status_new(FV_DEVICE_LOST, 77, MINI_NAME, "the device is gone", NULL);
#else
  p->buffers = run->buffers;
  p->left = MINI_PENDING;
  if (p->left) {
    *pending = 1;
    return NULL;
  }
  return mini_resume(p, 1, pending);
#endif
}

#ifdef MINI_DEVICE_MEMORY
static fv_status* mini_buffer_new(fv_backend* backend, uint64_t bytes, fv_buffer** out) {
  fv_buffer* b = malloc(sizeof(fv_buffer));
  (void)backend;
  b->bytes = calloc(1, (size_t)bytes + sizeof(float));
  *out = b;
  return NULL;
}
static void mini_buffer_free(fv_buffer* buffer) {
  if (buffer) free(buffer->bytes);
  free(buffer);
}
static fv_status* mini_buffer_write(fv_buffer* b, uint64_t offset, const void* src,
                                    uint64_t bytes) {
  uint64_t i;
  for (i = 0; i < bytes; ++i) b->bytes[offset + i] = (unsigned char)~((const unsigned char*)src)[i];
  return NULL;
}
static fv_status* mini_buffer_read(fv_buffer* b, uint64_t offset, void* dst, uint64_t bytes) {
  uint64_t i;
  for (i = 0; i < bytes; ++i) ((unsigned char*)dst)[i] = (unsigned char)~b->bytes[offset + i];
  return NULL;
}
#define MINI_BUFFERS mini_buffer_new, mini_buffer_free, mini_buffer_write, mini_buffer_read
#else
#define MINI_BUFFERS NULL, NULL, NULL, NULL
#endif

#ifdef MINI_NO_COMPILE
#define MINI_COMPILE NULL
#else
#define MINI_COMPILE mini_compile
#endif

FV_PLUGIN_EXPORT const fv_plugin_api* MINI_SYMBOL(void);
FV_PLUGIN_EXPORT const fv_plugin_api* MINI_SYMBOL(void) {
  static const fv_plugin_api table = {{(uint32_t)(MINI_SIZE), MINI_MAJOR, FV_ABI_MINOR},
                                      MINI_NAME,
                                      MINI_VERSION,
                                      "tests",
                                      mini_open,
                                      mini_close,
                                      mini_device_count,
                                      mini_device_info,
                                      mini_backend_create,
                                      mini_backend_destroy,
                                      mini_supports,
                                      NULL,
                                      MINI_COMPILE,
                                      mini_program_info,
                                      mini_program_destroy,
                                      mini_run,
                                      mini_resume,
                                      MINI_BUFFERS,
                                      NULL};
  (void)mini_compile;
  return &table;
}
