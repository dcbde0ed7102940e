// One log line at a time, to stderr or to the application's sink.
#ifndef FOVEAL_BASE_LOG_H_
#define FOVEAL_BASE_LOG_H_

#include "foveal/plugin.h"

namespace foveal {

using LogSink = void (*)(void* ctx, fv_log_level level, const char* message);

// sink NULL: stderr. Messages below `level` are dropped.
void set_log(fv_log_level level, LogSink sink, void* ctx);
void log(fv_log_level level, const char* message);  // any thread

}  // namespace foveal
#endif  // FOVEAL_BASE_LOG_H_
