// Status and Result: errors as values. Nothing here throws by itself; what the standard library
// throws when memory runs out becomes a Status in base/guard.h. No RTTI.
#ifndef FOVEAL_BASE_STATUS_H_
#define FOVEAL_BASE_STATUS_H_

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "foveal/types.h"

// The object behind the C handle. Text says operation, expected, got; hint says what to do.
struct fv_status {
  fv_code code = FV_INTERNAL;
  int64_t native = 0;  // error number of the driver or the OS, 0 if there is none
  std::string op;      // operator or call concerned, may be empty
  std::string message;
  std::string hint;
  mutable std::string text;  // message and hint, made when first asked for
  bool fixed = false;        // no_memory_status(): never changed, never freed
};

namespace foveal {

struct FreeStatus {
  void operator()(fv_status* s) const {
    if (!s->fixed) delete s;
  }
};

// The error for when there is no memory to make one: one per library, never freed.
inline fv_status* no_memory_status() {
  alignas(fv_status) static char place[sizeof(fv_status)];
  // The text fits into the string itself.
  static fv_status* const status =
      new (place) fv_status{FV_OUT_OF_MEMORY, 0, {}, "out of memory", {}, {}, true};
  return status;
}

class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(fv_code code, std::string message, std::string hint = {}, std::string op = {})
      : error_(new fv_status{
            code, 0, std::move(op), std::move(message), std::move(hint), {}, false}) {}
  // Takes ownership.
  explicit Status(fv_status* error) : error_(error) {}

  bool ok() const { return !error_; }
  fv_code code() const { return error_ ? error_->code : FV_OK; }
  const std::string& message() const {
    static const std::string none;
    return error_ ? error_->message : none;
  }
  const fv_status* get() const { return error_.get(); }
  // Gives ownership to a C caller; NULL when ok.
  fv_status* release() { return error_.release(); }
  // Prepends "context: " so that the text says where.
  Status&& within(const std::string& context) && {
    if (error_ && !error_->fixed) error_->message = context + ": " + error_->message;
    return std::move(*this);
  }
  Status&& for_op(const std::string& op) && {
    if (error_ && !error_->fixed && error_->op.empty()) error_->op = op;
    return std::move(*this);
  }
  Status copy() const {
    if (!error_ || error_->fixed) return Status(error_.get());
    return Status(new fv_status(*error_));
  }

 private:
  std::unique_ptr<fv_status, FreeStatus> error_;
};

inline Status ok() { return {}; }

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
inline std::string format(const char* fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  const int n = std::vsnprintf(nullptr, 0, fmt, args);
  va_end(args);
  std::string text(n > 0 ? static_cast<size_t>(n) : 0, '\0');
  if (n > 0) std::vsnprintf(text.data(), text.size() + 1, fmt, again);
  va_end(again);
  return text;
}

// A value or an error.
//   FV_ASSIGN(auto graph, read_graph(file));
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)), has_value_(true) {}
  Result(Status error) : status_(std::move(error)) {}
  bool ok() const { return has_value_; }
  T& value() { return value_; }
  const T& value() const { return value_; }
  T&& take() { return std::move(value_); }
  Status& status() { return status_; }

 private:
  T value_{};
  bool has_value_ = false;
  Status status_;
};

#define FV_CAT_(a, b) a##b
#define FV_CAT(a, b) FV_CAT_(a, b)
// Returns the error of a Status expression from the enclosing function.
#define FV_TRY(expr)                                                \
  do {                                                              \
    if (::foveal::Status fv_s_ = (expr); !fv_s_.ok()) return fv_s_; \
  } while (0)
// Declares or assigns `target` from a Result expression, or returns its error.
#define FV_ASSIGN(target, expr) FV_ASSIGN_(target, expr, FV_CAT(fv_r_, __LINE__))
#define FV_ASSIGN_(target, expr, r)          \
  auto r = (expr);                           \
  if (!r.ok()) return std::move(r.status()); \
  target = r.take()

}  // namespace foveal
#endif  // FOVEAL_BASE_STATUS_H_
