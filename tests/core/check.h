// Checks for the C++ tests: each *_test.cc is one program that returns CHECK_RESULT().
// A failed check prints where and what, and the program goes on.
#ifndef FOVEAL_TESTS_CORE_CHECK_H_
#define FOVEAL_TESTS_CORE_CHECK_H_

#include <cstdio>
#include <string>

#include "base/status.h"
#include "base/tensor_type.h"

namespace foveal::test {

inline int failures = 0;
inline int checks = 0;

inline std::string show(const std::string& s) { return "\"" + s + "\""; }
inline std::string show(const char* s) { return show(std::string(s)); }
inline std::string show(const Dims& d) { return to_string(d); }
inline std::string show(const TensorType& t) { return to_string(t); }
inline std::string show(bool b) { return b ? "true" : "false"; }
template <class T>
std::string show(const T& v) {
  return std::to_string(v);
}

inline bool report(bool good, const char* file, int line, const std::string& text) {
  ++checks;
  if (good) return true;
  if (++failures <= 20) std::fprintf(stderr, "%s:%d: %s\n", file, line, text.c_str());
  return false;
}

// The error must have this code and contain this text.
inline bool check_error(const Status& s, fv_code code, const std::string& text, const char* file,
                        int line) {
  return report(s.code() == code && s.message().find(text) != std::string::npos, file, line,
                "expected error " + std::to_string(code) + " with \"" + text + "\", got " +
                    std::to_string(s.code()) + " \"" + s.message() + "\"");
}

}  // namespace foveal::test

#define CHECK(condition)                                                   \
  ::foveal::test::report(static_cast<bool>(condition), __FILE__, __LINE__, \
                         "CHECK(" #condition ") failed")
#define CHECK_EQ(a, b)                                                                  \
  [&](const auto& fv_a, const auto& fv_b) {                                             \
    return ::foveal::test::report(fv_a == fv_b, __FILE__, __LINE__,                     \
                                  std::string(#a " is ") + ::foveal::test::show(fv_a) + \
                                      ", expected " + ::foveal::test::show(fv_b));      \
  }((a), (b))
#define CHECK_OK(status)                                                 \
  [&](const ::foveal::Status& fv_s) {                                    \
    return ::foveal::test::report(fv_s.ok(), __FILE__, __LINE__,         \
                                  #status " failed: " + fv_s.message()); \
  }(status)
#define CHECK_ERROR(status, code, text) \
  ::foveal::test::check_error((status), (code), (text), __FILE__, __LINE__)
#define CHECK_RESULT()                                                         \
  (std::printf("%s: %d checks, %d failed\n", __FILE__, ::foveal::test::checks, \
               ::foveal::test::failures),                                      \
   ::foveal::test::failures ? 1 : 0)

#endif  // FOVEAL_TESTS_CORE_CHECK_H_
