/* Foveal for applications: load a model, run it, read the answer. C99.
 *
 *   fv_model* model;  fv_session* session;  fv_status* s;
 *   if ((s = fv_model_open("face.fvm", &model)) ||
 *       (s = fv_session_new(model, NULL, &session))) {
 *     fprintf(stderr, "%s\n", fv_status_text(s));  fv_status_free(s);  return 1;
 *   }
 *   fv_tensor in, out;
 *   in.abi.struct_size = out.abi.struct_size = sizeof(fv_tensor);
 *   fv_session_input(session, 0, &in);       // the session's own memory: write into in.data
 *   s = fv_session_run(session);
 *   fv_session_output(session, 0, &out);     // valid until the next run
 *
 * Functions that can fail return fv_status*: NULL is success, anything else belongs to the caller
 * and is freed with fv_status_free. Objects are freed with the function of their type; freeing
 * NULL is allowed. Strings returned as const char* live as long as the object they came from.
 *
 * Threads: a model may be used from any number of threads; a session by one at a time.
 */
#ifndef FOVEAL_FOVEAL_H_
#define FOVEAL_FOVEAL_H_

#include "foveal/plugin.h"
#include "foveal/types.h"

#if defined(_WIN32)
#define FV_API __declspec(dllexport)
#else
#define FV_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fv_model fv_model;     /* graph and weights; immutable, reference-counted */
typedef struct fv_session fv_session; /* a model prepared for devices and shapes */
typedef struct fv_graph fv_graph;     /* a graph under construction */

FV_API const char* fv_version(void);

/* Pointers that a comment does not call optional must not be NULL: then FV_INVALID_ARGUMENT says
 * which one was, and what returns no status gives 0, NULL or "". Freeing NULL does nothing. */

/* ---- Errors ------------------------------------------------------------------------- */
FV_API fv_code fv_status_code(const fv_status* status);
FV_API const char* fv_status_message(const fv_status* status); /* operation, expected, got */
FV_API const char* fv_status_hint(const fv_status* status);    /* what to do; may be "" */
FV_API const char* fv_status_op(const fv_status* status);      /* operator concerned; may be "" */
FV_API int64_t fv_status_native(const fv_status* status);      /* errno or driver code; or 0 */
FV_API const char* fv_status_text(const fv_status* status);    /* message and hint in one line */
FV_API void fv_status_free(fv_status* status);
/* For libraries that return errors of this kind themselves. op and hint may be NULL. */
FV_API fv_status* fv_status_new(fv_code code, int64_t native, const char* op, const char* message,
                                const char* hint);

/* Receives every message at or above `level`; replaces the default, which writes warnings and
 * errors to stderr. Called from any thread. */
typedef void (*fv_log_sink)(void* ctx, fv_log_level level, const char* message);
FV_API void fv_log_set(fv_log_level level, fv_log_sink sink, void* ctx);

/* ---- Models ------------------------------------------------------------------------- */
/* Reads the file, or maps it if it is over 16 MiB. A mapped file must not change while the model
 * lives: replace it by renaming another over it, never in place (reading behind a shortened end
 * kills a process). Everything in it is verified. */
FV_API fv_status* fv_model_open(const char* path, fv_model** out);
/* Copies `data`. */
FV_API fv_status* fv_model_open_memory(const void* data, size_t bytes, fv_model** out);
FV_API fv_model* fv_model_retain(fv_model* model);
FV_API void fv_model_release(fv_model* model);
FV_API size_t fv_model_inputs(const fv_model* model);
FV_API size_t fv_model_outputs(const fv_model* model);
/* Description only: data is NULL. */
FV_API fv_status* fv_model_input(const fv_model* model, size_t i, fv_tensor* out);
FV_API fv_status* fv_model_output(const fv_model* model, size_t i, fv_tensor* out);
/* Name of a dimension that is -1 in fv_model_input/_output ("height"); "" if it has none. */
FV_API const char* fv_model_dim_name(const fv_model* model, int32_t is_output, size_t i,
                                     int32_t dim);
/* What the whole numbers of an input or output stand for: (number - zero_point) * scale; 1 and 0
 * where the model says nothing. */
FV_API fv_status* fv_model_quantization(const fv_model* model, int32_t is_output, size_t i,
                                        double* scale, int32_t* zero_point);
/* NULL: no such key. Keys: "pipeline", "decoder" (JSON specs), "labels", "source", "license". */
FV_API const char* fv_model_meta(const fv_model* model, const char* key);
FV_API size_t fv_model_meta_count(const fv_model* model);
FV_API const char* fv_model_meta_key(const fv_model* model, size_t i);

/* ---- Sessions ----------------------------------------------------------------------- */
typedef struct fv_session_options {
  fv_abi abi;
  /* Devices in order of preference, separated by commas: "cpu", "template,cpu". NULL or "auto":
   * best score first, then the CPU. What no named device can run is an error that says why. */
  const char* devices;
  int32_t threads; /* 0 = one per physical core, at most 4 */
  int32_t flags;
} fv_session_options;
enum {
  FV_SESSION_NO_FUSION = 1, /* run every operator by itself: slow, for finding faults */
  FV_SESSION_PROFILE = 2    /* record events for fv_session_profile */
};
FV_API fv_status* fv_session_new(fv_model* model, const fv_session_options* options,
                                 fv_session** out);
FV_API void fv_session_free(fv_session* session);
/* Sets the shape of an input; takes effect at the next input/output/run call. Plans are kept for
 * the shapes seen last, so going back and forth does not plan again. */
FV_API fv_status* fv_session_resize(fv_session* session, size_t input, int32_t rank,
                                    const int64_t* dims);
/* The session's own memory, to be written or read in place; plain layout. Valid until the next
 * resize, output until the next run. Names: fv_model_input. */
FV_API fv_status* fv_session_input(fv_session* session, size_t i, fv_tensor* out);
FV_API fv_status* fv_session_output(fv_session* session, size_t i, fv_tensor* out);
FV_API fv_status* fv_session_run(fv_session* session);
/* The same in steps, for devices that work asynchronously: start, then poll until *pending is 0.
 * wait = 1 blocks for the current segment. */
FV_API fv_status* fv_session_start(fv_session* session, int32_t* pending);
FV_API fv_status* fv_session_poll(fv_session* session, int32_t wait, int32_t* pending);
/* JSON: where every node runs, why, in which layout, estimated cost, memory plan. */
FV_API fv_status* fv_session_explain(fv_session* session, char** out_json);
/* Writes what FV_SESSION_PROFILE recorded as a Chrome trace (chrome://tracing, Perfetto): nodes
 * (args.node: index in explain's nodes) and, in category "session", every run, segment, relayout,
 * upload and download. */
FV_API fv_status* fv_session_profile(fv_session* session, const char* path);
FV_API void fv_string_free(char* string);
FV_API fv_pool* fv_session_pool(fv_session* session);

/* ---- DLPack (version 0 capsules, DLManagedTensor*) ------------------------------------ */
/* A view of foreign memory; `managed` must outlive it. Refuses devices other than CPU, strides
 * that are not dense row-major, and types without a counterpart. */
FV_API fv_status* fv_tensor_from_dlpack(void* managed, fv_tensor* out);
/* A new DLManagedTensor over the session's own memory, which stays valid (no longer connected to
 * the session after a resize) until its deleter is called. The content changes with every run. */
FV_API fv_status* fv_session_input_dlpack(fv_session* session, size_t i, void** out_managed);
FV_API fv_status* fv_session_output_dlpack(fv_session* session, size_t i, void** out_managed);

/* ---- Threads ------------------------------------------------------------------------ */
/* All pools share one set of worker threads; a pool is a limit on how many of them take part. */
FV_API fv_status* fv_pool_new(int32_t threads, fv_pool** out);
FV_API void fv_pool_free(fv_pool* pool);
FV_API int32_t fv_pool_threads(const fv_pool* pool);
/* pool may be NULL: runs on the caller's thread. */
FV_API void fv_parallel_for(const fv_pool* pool, int64_t tasks, fv_task task, void* ctx);

/* ---- Plugins ------------------------------------------------------------------------ */
/* Adds a file, or every shared library in a folder, to the candidates.
 * They are opened when first needed; what fails to load is logged in one line and listed by
 * fv_plugins_json, and everything else goes on. The folder foveal/plugins beside libfoveal and
 * FOVEAL_PLUGIN_PATH (separated like PATH) are searched as well. */
FV_API fv_status* fv_plugin_add(const char* path);
/* For platforms without dlopen and for tests: a table linked into the application. */
FV_API fv_status* fv_plugin_add_static(const fv_plugin_api* (*entry)(void));
/* Forgets a plugin by name. Sessions that use it stay valid: its library is unloaded with the
 * last of them. */
FV_API fv_status* fv_plugin_remove(const char* name);
/* JSON list: name, version, path, devices with score and reason, state, error. */
FV_API fv_status* fv_plugins_json(char** out_json);
/* Folder for small persistent caches (tuning results); NULL = none. */
FV_API fv_status* fv_cache_dir(const char* path);

/* ---- Graphs: for importers ------------------------------------------------------------ */
FV_API fv_status* fv_graph_new(fv_graph** out);
FV_API void fv_graph_free(fv_graph* graph);
/* Values are numbered from 0 in order of addition. dims may be -1; dim_names (optional array of
 * `rank` strings, entries may be NULL) names those. */
FV_API fv_status* fv_graph_add_value(fv_graph* graph, const char* name, fv_dtype dtype,
                                     int32_t rank, const int64_t* dims,
                                     const char* const* dim_names, int32_t* out_value);
/* Copies `data`, dense row-major. */
FV_API fv_status* fv_graph_add_constant(fv_graph* graph, const char* name, fv_dtype dtype,
                                        int32_t rank, const int64_t* dims, const void* data,
                                        int32_t* out_value);
/* Says what a uint8, int8 or int16 value's numbers stand for (fv_model_quantization). */
FV_API fv_status* fv_graph_set_quantization(fv_graph* graph, int32_t value, double scale,
                                            int32_t zero_point);
/* An attribute is copied with the name given. inputs: -1 = omitted optional input. */
typedef struct fv_named_attr {
  const char* name;
  fv_attr attr;
} fv_named_attr;
FV_API fv_status* fv_graph_add_node(fv_graph* graph, const char* op, const char* name,
                                    const int32_t* inputs, size_t input_count,
                                    const int32_t* outputs, size_t output_count,
                                    const fv_named_attr* attrs, size_t attr_count);
FV_API fv_status* fv_graph_set_io(fv_graph* graph, const int32_t* inputs, size_t input_count,
                                  const int32_t* outputs, size_t output_count);
FV_API fv_status* fv_graph_set_meta(fv_graph* graph, const char* key, const char* value);
/* Checks everything and infers all types; lists all unknown operators at once. */
FV_API fv_status* fv_graph_verify(fv_graph* graph);
/* Type of a value, after verify. */
FV_API fv_status* fv_graph_value(const fv_graph* graph, int32_t value, fv_tensor* out);
/* Verifies and writes a .fvm file: all of it or nothing. */
FV_API fv_status* fv_graph_save(fv_graph* graph, const char* path);
FV_API fv_status* fv_graph_to_model(fv_graph* graph, fv_model** out);
/* The graph of a model, for inspection and for rewriting: a copy that shares the weights. */
FV_API fv_status* fv_graph_from_model(const fv_model* model, fv_graph** out);
FV_API int32_t fv_graph_values(const fv_graph* graph);
FV_API int32_t fv_graph_nodes(const fv_graph* graph);
/* Constant data of a value; NULL if it is not constant. */
FV_API const void* fv_graph_constant(const fv_graph* graph, int32_t value);
/* Nodes in execution order. */
FV_API const char* fv_graph_node_op(const fv_graph* graph, int32_t i);
FV_API const char* fv_graph_node_name(const fv_graph* graph, int32_t i);
FV_API size_t fv_graph_node_inputs(const fv_graph* graph, int32_t i);
FV_API int32_t fv_graph_node_input(const fv_graph* graph, int32_t i, size_t k);
FV_API size_t fv_graph_node_outputs(const fv_graph* graph, int32_t i);
FV_API int32_t fv_graph_node_output(const fv_graph* graph, int32_t i, size_t k);
FV_API size_t fv_graph_node_attrs(const fv_graph* graph, int32_t i);
FV_API fv_status* fv_graph_node_attr(const fv_graph* graph, int32_t i, size_t k,
                                     fv_named_attr* out);
FV_API double fv_graph_node_macs(const fv_graph* graph, int32_t i); /* -1: shapes unknown */
/* Shape rule of one operator: out[] gets dtype, rank, dims. inputs with rank -1 are omitted. */
FV_API fv_status* fv_op_infer(const char* op, const fv_tensor* inputs, size_t input_count,
                              const fv_named_attr* attrs, size_t attr_count, fv_tensor* out,
                              size_t output_count);
/* All operator definitions as JSON. Static. */
FV_API const char* fv_ops_json(void);

#ifdef __cplusplus
}
#endif
#endif
