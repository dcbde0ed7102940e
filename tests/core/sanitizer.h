// FV_SANITIZER is defined where a sanitizer has replaced malloc: it must stay as it is.
#ifndef FOVEAL_TESTS_CORE_SANITIZER_H_
#define FOVEAL_TESTS_CORE_SANITIZER_H_

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // gcc
#define FV_SANITIZER 1
#elif defined(__has_feature)  // clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FV_SANITIZER 1
#endif
#endif

#endif  // FOVEAL_TESTS_CORE_SANITIZER_H_
