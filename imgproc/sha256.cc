#include "imgproc/sha256.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace foveal::imgproc {
namespace {

// First 32 bits of the fractional part of the n-th root (2 or 3) of the i-th prime: the standard's
// constants, from their definition.
struct Constants {
  uint32_t h[8], k[64];
  Constants() {
    int count = 0;
    for (int p = 2; count < 64; ++p) {
      bool prime = true;
      for (int d = 2; d * d <= p; ++d) prime = prime && p % d != 0;
      if (!prime) continue;
      if (count < 8) h[count] = fraction(std::sqrt(static_cast<long double>(p)));
      k[count++] = fraction(std::cbrt(static_cast<long double>(p)));
    }
  }
  static uint32_t fraction(long double x) {
    return static_cast<uint32_t>((x - std::floor(x)) * 4294967296.0L);
  }
};

void block(const Constants& c, uint32_t (&h)[8], const unsigned char* p) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t{p[4 * i]} << 24 | uint32_t{p[4 * i + 1]} << 16 | uint32_t{p[4 * i + 2]} << 8 |
           p[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  uint32_t s[8];
  for (int i = 0; i < 8; ++i) s[i] = h[i];
  for (int i = 0; i < 64; ++i) {
    const uint32_t e = s[4], a = s[0];
    const uint32_t t = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                       ((e & s[5]) ^ (~e & s[6])) + c.k[i] + w[i];
    const uint32_t u = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                       ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    for (int j = 7; j > 0; --j) s[j] = s[j - 1];
    s[4] += t;
    s[0] = t + u;
  }
  for (int i = 0; i < 8; ++i) h[i] += s[i];
}

}  // namespace

std::string sha256_hex(std::string_view data) {
  static const Constants constants;
  uint32_t h[8];
  for (int i = 0; i < 8; ++i) h[i] = constants.h[i];
  std::string padded(data);
  padded += '\x80';
  padded.append((120 - padded.size() % 64) % 64, '\0');
  for (int i = 7; i >= 0; --i) padded += static_cast<char>(uint64_t{data.size()} * 8 >> (8 * i));
  for (size_t at = 0; at < padded.size(); at += 64)
    block(constants, h, reinterpret_cast<const unsigned char*>(padded.data()) + at);
  std::string out;
  for (const uint32_t word : h)
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15];
  return out;
}

}  // namespace foveal::imgproc
