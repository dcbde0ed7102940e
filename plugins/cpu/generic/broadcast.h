// Walks a plain output and up to three broadcasting operands, innermost runs at a time.
#ifndef FOVEAL_CPU_GENERIC_BROADCAST_H_
#define FOVEAL_CPU_GENERIC_BROADCAST_H_

#include "common/cpu.h"

namespace foveal::cpu {

class Broadcast {
 public:
  Broadcast() = default;
  Broadcast(const Dims& out, const std::vector<Dims>& operands) : count_(element_count(out)) {
    const size_t k = operands.size();
    std::vector<Dims> strides(k, Dims(out.size(), 0));
    for (size_t o = 0; o < k; ++o) {
      int64_t s = 1;
      for (size_t i = operands[o].size(); i-- > 0; s *= operands[o][i])
        if (operands[o][i] != 1) strides[o][i + out.size() - operands[o].size()] = s;
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] == 1) continue;
      bool join = !size_.empty();
      for (size_t o = 0; join && o < k; ++o) join = stride_[o].back() == strides[o][i] * out[i];
      if (join) {
        size_.back() *= out[i];
      } else {
        size_.push_back(out[i]);
        if (stride_.empty()) stride_.resize(k);
        for (size_t o = 0; o < k; ++o) stride_[o].push_back(0);
      }
      for (size_t o = 0; o < k; ++o) stride_[o].back() = strides[o][i];
    }
    if (size_.empty()) {
      size_ = {1};
      stride_.assign(k, Dims{0});
    }
  }
  // run(out offset, operand offsets[], operand strides[], n) for every innermost run.
  template <class F>
  void each(F&& run) const {
    if (count_ == 0) return;
    const size_t rank = size_.size(), k = stride_.size();
    int64_t at[FV_MAX_RANK] = {}, offset[3] = {}, step[3] = {};
    for (size_t o = 0; o < k; ++o) step[o] = stride_[o].back();
    for (int64_t out = 0;; out += size_.back()) {
      run(out, offset, step, size_.back());
      size_t i = rank - 1;
      for (;;) {
        if (i == 0) return;
        --i;
        for (size_t o = 0; o < k; ++o) offset[o] += stride_[o][i];
        if (++at[i] < size_[i]) break;
        for (size_t o = 0; o < k; ++o) offset[o] -= stride_[o][i] * size_[i];
        at[i] = 0;
      }
    }
  }

 private:
  int64_t count_ = 0;
  Dims size_;
  std::vector<Dims> stride_;
};

// Calls f with a value of the C++ type behind an integer or double dtype; false for others.
template <class F>
bool with_number_type(fv_dtype t, F&& f) {
  switch (t) {
    case FV_FLOAT64:
      return f(double{}), true;
    case FV_INT8:
      return f(int8_t{}), true;
    case FV_UINT8:
      return f(uint8_t{}), true;
    case FV_INT16:
      return f(int16_t{}), true;
    case FV_UINT16:
      return f(uint16_t{}), true;
    case FV_INT32:
      return f(int32_t{}), true;
    case FV_UINT32:
      return f(uint32_t{}), true;
    case FV_INT64:
      return f(int64_t{}), true;
    case FV_UINT64:
      return f(uint64_t{}), true;
    default:
      return false;
  }
}

}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_GENERIC_BROADCAST_H_
