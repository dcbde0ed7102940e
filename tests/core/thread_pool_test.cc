// Every task runs exactly once, whoever calls and however often.
#include "base/thread_pool.h"

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace foveal;

namespace {
struct Counts {
  std::vector<std::atomic<int>> hits;
  std::atomic<int> bad_worker{0};
  int threads;
  Counts(size_t n, int t) : hits(n), threads(t) {}
};
void count(void* ctx, int64_t task, int32_t worker) {
  auto* c = static_cast<Counts*>(ctx);
  c->hits[static_cast<size_t>(task)].fetch_add(1);
  if (worker < 0 || worker >= c->threads) c->bad_worker.fetch_add(1);
}
bool once_each(const fv_pool* pool, int64_t tasks) {
  Counts c(static_cast<size_t>(tasks), pool ? pool->threads : 1);
  parallel_for(pool, tasks, count, &c);
  for (const auto& h : c.hits)
    if (h.load() != 1) return false;
  return c.bad_worker.load() == 0;
}
struct Nested {
  const fv_pool* pool;
  std::atomic<int> good{0};
};
void nested(void* ctx, int64_t, int32_t) {
  auto* n = static_cast<Nested*>(ctx);
  if (once_each(n->pool, 17)) n->good.fetch_add(1);
}
}  // namespace

int main() {
  reserve_workers(4);
  const fv_pool one{1}, two{2}, four{4}, many{64};
  for (const fv_pool* p : {static_cast<const fv_pool*>(nullptr), &one, &two, &four, &many})
    for (int64_t tasks : {0, 1, 2, 3, 7, 64, 1000}) CHECK(once_each(p, tasks));
  // Many short calls with changing numbers of helpers: a late worker must not join the wrong one.
  for (int i = 0; i < 20000; ++i)
    CHECK(once_each(i % 3 == 0 ? &two : i % 3 == 1 ? &four : &one, 5));
  // Several callers at once share the workers or go on alone.
  std::vector<std::thread> callers;
  std::atomic<int> bad{0};
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 3000; ++i)
        if (!once_each(&four, 9)) bad.fetch_add(1);
    });
  for (std::thread& t : callers) t.join();
  CHECK_EQ(bad.load(), 0);
#if defined(__unix__)
  // A forked child has none of the workers and must neither wait for them nor go without.
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(once_each(&four, 100) && once_each(&two, 7) ? 0 : 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(once_each(&four, 100));
  }
#endif
  Nested n{&four};
  parallel_for(&four, 8, nested, &n);
  CHECK_EQ(n.good.load(), 8);
  return CHECK_RESULT();
}
