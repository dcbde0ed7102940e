#include "base/blocked.h"

#include <cstring>

namespace foveal {
namespace {

struct Extent {
  int64_t n, c, inner;  // batch, channels, product of what follows
};
Extent extent(const Dims& d) {
  Extent e{d[0], d[1], 1};
  for (size_t i = 2; i < d.size(); ++i) e.inner *= d[i];
  return e;
}

template <size_t kBytes>
void copy_blocked(const Extent& e, int64_t x, const char* plain, char* blocked, bool to_blocked) {
  const int64_t blocks = (e.c + x - 1) / x;
  for (int64_t n = 0; n < e.n; ++n)
    for (int64_t c = 0; c < e.c; ++c)
      for (int64_t i = 0; i < e.inner; ++i) {
        const int64_t p = (n * e.c + c) * e.inner + i;
        const int64_t b = ((n * blocks + c / x) * e.inner + i) * x + c % x;
        if (to_blocked)
          std::memcpy(blocked + b * kBytes, plain + p * kBytes, kBytes);
        else
          std::memcpy(const_cast<char*>(plain) + p * kBytes, blocked + b * kBytes, kBytes);
      }
}

void copy_sized(size_t bytes, const Extent& e, int64_t x, const char* plain, char* blocked,
                bool to_blocked) {
  switch (bytes) {
    case 1:
      return copy_blocked<1>(e, x, plain, blocked, to_blocked);
    case 2:
      return copy_blocked<2>(e, x, plain, blocked, to_blocked);
    case 4:
      return copy_blocked<4>(e, x, plain, blocked, to_blocked);
    default:
      return copy_blocked<8>(e, x, plain, blocked, to_blocked);
  }
}

bool known(fv_layout l) {
  return l.id == FV_LAYOUT_PLAIN || (l.id == FV_LAYOUT_NCXHWX && l.block > 0);
}

}  // namespace

bool convert_layout(const TensorType& type, const void* src, fv_layout from, void* dst,
                    fv_layout to) {
  if (!known(from) || !known(to)) return false;
  const auto bytes = static_cast<size_t>(storage_bytes(type, to));
  if (same_layout(from, to)) {
    std::memcpy(dst, src, bytes);
    return true;
  }
  if (type.rank() < 2) return false;
  const Extent e = extent(type.dims);
  const size_t size = dtype_size(type.dtype);
  if (from.id == FV_LAYOUT_PLAIN) {
    std::memset(dst, 0, bytes);
    copy_sized(size, e, to.block, static_cast<const char*>(src), static_cast<char*>(dst), true);
  } else if (to.id == FV_LAYOUT_PLAIN) {
    copy_sized(size, e, from.block, static_cast<const char*>(dst),
               const_cast<char*>(static_cast<const char*>(src)), false);
  } else {
    // Between two block sizes: element by element.
    std::memset(dst, 0, bytes);
    const int64_t fb = (e.c + from.block - 1) / from.block, tb = (e.c + to.block - 1) / to.block;
    for (int64_t n = 0; n < e.n; ++n)
      for (int64_t c = 0; c < e.c; ++c)
        for (int64_t i = 0; i < e.inner; ++i) {
          const int64_t s = ((n * fb + c / from.block) * e.inner + i) * from.block + c % from.block;
          const int64_t d = ((n * tb + c / to.block) * e.inner + i) * to.block + c % to.block;
          std::memcpy(static_cast<char*>(dst) + static_cast<size_t>(d) * size,
                      static_cast<const char*>(src) + static_cast<size_t>(s) * size, size);
        }
  }
  return true;
}

}  // namespace foveal
