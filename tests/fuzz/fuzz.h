// What the fuzz targets share: decisions read from the input, buffers of exact size, whose ends the
// sanitizer watches, and the check that every error has a code and a text.
#ifndef FOVEAL_TESTS_FUZZ_FUZZ_H_
#define FOVEAL_TESTS_FUZZ_FUZZ_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "foveal/foveal.h"

namespace foveal::fuzz {

// Takes values from the front of the input; zeros when it is used up.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  template <class T>
  T take() {
    T value{};
    const size_t n = size_ < sizeof(T) ? size_ : sizeof(T);
    if (n) std::memcpy(&value, data_, n);
    data_ += n;
    size_ -= n;
    return value;
  }
  // In [lo, hi].
  int range(int lo, int hi) { return lo + static_cast<int>(take<uint16_t>()) % (hi - lo + 1); }
  // Up to the next zero byte, which is dropped.
  std::string_view text() {
    const void* end = size_ ? std::memchr(data_, 0, size_) : nullptr;
    const size_t n = end ? static_cast<size_t>(static_cast<const uint8_t*>(end) - data_) : size_;
    const std::string_view t(reinterpret_cast<const char*>(data_), n);
    data_ += end ? n + 1 : n;
    size_ -= end ? n + 1 : n;
    return t;
  }
  // What is left, over and over; zeros when nothing is.
  void fill(void* out, size_t bytes) const {
    auto* p = static_cast<uint8_t*>(out);
    for (size_t i = 0; i < bytes; ++i) p[i] = size_ ? data_[i % size_] : 0;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

template <class T = uint8_t>
std::unique_ptr<T[]> exact(size_t count) {
  return std::unique_ptr<T[]>(new T[count]());
}

// A copy of exact size: reading behind a text's end is seen.
inline std::unique_ptr<uint8_t[]> exact_copy(std::string_view text) {
  auto copy = exact(text.size());
  if (!text.empty()) std::memcpy(copy.get(), text.data(), text.size());
  return copy;
}

// Frees the error; ends the program when it is one of ours or says nothing.
inline bool failed(fv_status* status) {
  if (!status) return false;
  const fv_code code = fv_status_code(status);
  if (code <= FV_OK || code >= FV_INTERNAL || !*fv_status_text(status)) {
    std::fprintf(stderr, "error %d with text \"%s\"\n", code, fv_status_text(status));
    std::abort();
  }
  fv_status_free(status);
  return true;
}

inline void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace foveal::fuzz

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);  // libFuzzer's own
}

#endif  // FOVEAL_TESTS_FUZZ_FUZZ_H_
