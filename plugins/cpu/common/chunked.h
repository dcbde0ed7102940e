// Kernels that write their output element by element, in memory order.
#ifndef FOVEAL_CPU_COMMON_CHUNKED_H_
#define FOVEAL_CPU_COMMON_CHUNKED_H_

#include "common/posts.h"

namespace foveal::cpu {
inline namespace FV_ISA {

class ChunkedKernel : public Kernel {
 public:
  Status prepare(const Context& c, const Node& node) {
    const Value out = node.output(0);
    y_ = out.slot();
    count_ = physical_count(out);
    threads_ = c.threads();
    FV_ASSIGN(posts_, Posts::make(node, out));
    return ok();
  }

 protected:
  // compute(dst, i, n): elements [i, i + n) of the output, at dst. Fused operators follow while
  // they are in L1.
  template <class F>
  Status run_chunks(const Run& r, F&& compute) const {
    constexpr int64_t kChunk = 4096;
    float* y = r.ptr<float>(y_);
    const int64_t chunks = ceil_div(count_, kChunk);
    const int64_t tasks = task_count(chunks, kChunk, threads_);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(chunks, task, tasks);
      for (int64_t i = range.begin * kChunk; i < std::min(range.end * kChunk, count_);
           i += kChunk) {
        const int64_t n = std::min(kChunk, count_ - i);
        compute(y + i, i, n);
        posts_.apply(r, y + i, n, i);
        if (posts_.empty()) posts_.zero_padding(y + i, n, i);
      }
    });
    return ok();
  }

 private:
  int y_ = -1, threads_ = 1;
  int64_t count_ = 0;
  Posts posts_;
};

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_CHUNKED_H_
