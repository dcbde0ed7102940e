// 64-bit checksum of model files: finds damage, is no protection against forgery. Eight
// independent multiply-rotate lanes keep the multiplier busy every cycle (over 10 GB/s). Every
// step is a bijection of its lane, so a change confined to one 8-byte word always changes the sum.
#ifndef FOVEAL_GRAPH_CHECKSUM_H_
#define FOVEAL_GRAPH_CHECKSUM_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace foveal {

class Checksum {
 public:
  Checksum() {
    for (int i = 0; i < 8; ++i) lanes_[i] = kSeed * static_cast<uint64_t>(2 * i + 1);
  }

  // Pieces may be cut anywhere: only the sequence of bytes counts.
  void update(const void* data, size_t bytes) {
    const auto* p = static_cast<const unsigned char*>(data);
    total_ += bytes;
    if (pending_) {
      const size_t n = std::min(bytes, sizeof(block_) - pending_);
      std::memcpy(block_ + pending_, p, n);
      pending_ += n, p += n, bytes -= n;
      if (pending_ < sizeof(block_)) return;
      mix(block_, 1);
      pending_ = 0;
    }
    mix(p, bytes / 64);
    pending_ = bytes % 64;
    if (pending_) std::memcpy(block_, p + (bytes - pending_), pending_);
  }

  uint64_t finish() const {
    Checksum last = *this;
    if (last.pending_) {
      std::memset(last.block_ + last.pending_, 0, sizeof(block_) - last.pending_);
      last.mix(last.block_, 1);
    }
    uint64_t sum = total_ * kStep;
    for (uint64_t lane : last.lanes_) {
      sum = (sum ^ lane) * kStep;
      sum ^= sum >> 29;
    }
    return sum;
  }

  static uint64_t of(const void* data, size_t bytes) {
    Checksum c;
    c.update(data, bytes);
    return c.finish();
  }

 private:
  static constexpr uint64_t kSeed = 0x6a09e667f3bcc909u;  // sqrt 2
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;  // golden ratio, odd
  static_assert(std::endian::native == std::endian::little, "words are read in file order");

  void mix(const unsigned char* p, size_t blocks) {
    uint64_t lane[8];
    std::memcpy(lane, lanes_, sizeof(lane));
    for (size_t b = 0; b < blocks; ++b, p += 64) {
#pragma GCC unroll 8  // lanes in registers even when optimising for size
      for (int i = 0; i < 8; ++i) {
        uint64_t word;
        std::memcpy(&word, p + 8 * i, 8);
        lane[i] = std::rotl((lane[i] ^ word) * kStep, 31);
      }
    }
    std::memcpy(lanes_, lane, sizeof(lane));
  }

  uint64_t lanes_[8];
  uint64_t total_ = 0;
  size_t pending_ = 0;
  unsigned char block_[64];
};

}  // namespace foveal
#endif  // FOVEAL_GRAPH_CHECKSUM_H_
