// SHA-256 (FIPS 180-4), for digests of specifications.
#ifndef FOVEAL_IMGPROC_SHA256_H_
#define FOVEAL_IMGPROC_SHA256_H_

#include <string>
#include <string_view>

namespace foveal::imgproc {

std::string sha256_hex(std::string_view data);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_SHA256_H_
