// Worker threads shared by all sessions and by imgproc.
//
// One set of workers per process; a Pool only limits how many of them join a call. The caller
// always works too, so Pool{1} never wakes anybody. One parallel_for at a time uses the workers:
// a second, concurrent or nested, call runs on its caller alone, so nothing can deadlock.
#ifndef FOVEAL_BASE_THREAD_POOL_H_
#define FOVEAL_BASE_THREAD_POOL_H_

#include "foveal/types.h"

struct fv_pool {
  int32_t threads;  // caller included
};

namespace foveal {

// Physical-core guess used for threads = 0: hardware threads, at most 4.
int32_t default_threads();

// task(ctx, i, worker) for every i in [0, tasks), in any order, on at most pool->threads threads;
// returns when all are done. Does not allocate once the workers exist. pool may be NULL.
void parallel_for(const fv_pool* pool, int64_t tasks, fv_task task, void* ctx);

// Starts workers ahead of time so that the first run does not pay for them.
void reserve_workers(int32_t threads);

}  // namespace foveal
#endif  // FOVEAL_BASE_THREAD_POOL_H_
