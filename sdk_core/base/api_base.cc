// foveal.h: version, errors, log, threads.
#include "base/guard.h"
#include "base/log.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "foveal/foveal.h"

extern "C" {

const char* fv_version(void) { return FOVEAL_VERSION; }

fv_code fv_status_code(const fv_status* s) { return s ? s->code : FV_OK; }
const char* fv_status_message(const fv_status* s) { return s ? s->message.c_str() : ""; }
const char* fv_status_hint(const fv_status* s) { return s ? s->hint.c_str() : ""; }
const char* fv_status_op(const fv_status* s) { return s ? s->op.c_str() : ""; }
int64_t fv_status_native(const fv_status* s) { return s ? s->native : 0; }
const char* fv_status_text(const fv_status* s) {
  if (!s) return "ok";
  if (s->hint.empty()) return s->message.c_str();
  return foveal::guard_or(s->message.c_str(), [&] {
    if (s->text.empty()) s->text = s->message + " (" + s->hint + ")";
    return s->text.c_str();
  });
}
void fv_status_free(fv_status* s) { const foveal::Status owned(s); }
fv_status* fv_status_new(fv_code code, int64_t native, const char* op, const char* message,
                         const char* hint) {
  return foveal::guard(__func__, [&] {
    return new fv_status{code, native, op ? op : "", message ? message : "", hint ? hint : "",
                         "",   false};
  });
}

void fv_log_set(fv_log_level level, fv_log_sink sink, void* ctx) {
  foveal::set_log(level, sink, ctx);
}

fv_status* fv_pool_new(int32_t threads, fv_pool** out) {
  return foveal::guard(__func__, {{"out", out}}, [&] {
    if (threads < 0 || threads > 64)
      return foveal::Status(FV_INVALID_ARGUMENT,
                            foveal::format("threads is %d, expected 0 (choose) to 64", threads));
    *out = new fv_pool{threads ? threads : foveal::default_threads()};
    foveal::reserve_workers((*out)->threads);
    return foveal::ok();
  });
}
void fv_pool_free(fv_pool* pool) { delete pool; }
int32_t fv_pool_threads(const fv_pool* pool) { return pool ? pool->threads : 1; }
void fv_parallel_for(const fv_pool* pool, int64_t tasks, fv_task task, void* ctx) {
  foveal::parallel_for(pool, tasks, task, ctx);
}

}  // extern "C"
