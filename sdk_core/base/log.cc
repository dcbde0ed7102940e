#include "base/log.h"

#include <cstdio>
#include <new>

#include "base/mutex.h"

namespace foveal {
namespace {
struct Log {
  Mutex mutex;
  fv_log_level level = FV_LOG_WARNING;
  LogSink sink = nullptr;
  void* ctx = nullptr;
};
Log& state() {
  // Never destroyed: worker threads may log during exit. Not on the heap: it may be full.
  alignas(Log) static char place[sizeof(Log)];
  static Log* const log = new (place) Log;
  return *log;
}
}  // namespace

void set_log(fv_log_level level, LogSink sink, void* ctx) {
  Lock lock(state().mutex);
  state().level = level;
  state().sink = sink;
  state().ctx = ctx;
}

void log(fv_log_level level, const char* message) {
  static const char* const names[] = {"debug", "info", "warning", "error"};
  Lock lock(state().mutex);
  if (level < state().level) return;
  if (state().sink) return state().sink(state().ctx, level, message);
  std::fprintf(stderr, "foveal %s: %s\n", names[level < 0 || level > 3 ? 3 : level], message);
}

}  // namespace foveal
