// C++ over foveal.h: ownership and spans, nothing else. Header-only, C++20, needs no exceptions.
//
//   fv::Error e;
//   auto model = fv::Model::open("face.fvm", e);
//   auto session = fv::Session::create(model, {.devices = "cpu", .threads = 2}, e);
//   if (e) return fail(e.text());
//   std::span<float> in = session.input<float>(0, e);
//   ...
//   session.run(e);
//   std::span<const float> out = session.output<float>(0, e);
//
// A call does nothing while `e` holds an error, so a sequence needs one check at its end.
#ifndef FOVEAL_FOVEAL_HPP_
#define FOVEAL_FOVEAL_HPP_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "foveal/foveal.h"

namespace fv {

// The first error of a sequence of calls. Move-only.
class Error {
 public:
  Error() = default;
  Error(Error&& other) noexcept : status_(std::exchange(other.status_, nullptr)) {}
  Error& operator=(Error&& other) noexcept {
    if (this != &other) reset(std::exchange(other.status_, nullptr));
    return *this;
  }
  ~Error() { fv_status_free(status_); }
  explicit operator bool() const { return status_ != nullptr; }
  fv_code code() const { return fv_status_code(status_); }
  const char* text() const { return fv_status_text(status_); }
  const char* hint() const { return fv_status_hint(status_); }
  // Takes ownership; keeps the first error. Returns whether all is well.
  bool check(fv_status* status) {
    if (!status_)
      status_ = status;
    else
      fv_status_free(status);
    return !status_;
  }
  void clear() { reset(nullptr); }

 private:
  void reset(fv_status* status) {
    fv_status_free(status_);
    status_ = status;
  }
  fv_status* status_ = nullptr;
};

template <class T>
constexpr fv_dtype dtype_of() {
  if constexpr (std::is_same_v<T, float>) return FV_FLOAT32;
  if constexpr (std::is_same_v<T, double>) return FV_FLOAT64;
  if constexpr (std::is_same_v<T, int8_t>) return FV_INT8;
  if constexpr (std::is_same_v<T, uint8_t>) return FV_UINT8;
  if constexpr (std::is_same_v<T, int32_t>) return FV_INT32;
  if constexpr (std::is_same_v<T, int64_t>) return FV_INT64;
  return 0;
}

// Copies share the model.
class Model {
 public:
  Model() = default;
  Model(const Model& other) : model_(other.model_ ? fv_model_retain(other.model_) : nullptr) {}
  Model(Model&& other) noexcept : model_(std::exchange(other.model_, nullptr)) {}
  Model& operator=(Model other) noexcept {
    std::swap(model_, other.model_);
    return *this;
  }
  ~Model() { fv_model_release(model_); }
  static Model open(const std::string& path, Error& e) {
    Model m;
    if (!e) e.check(fv_model_open(path.c_str(), &m.model_));
    return m;
  }
  static Model open(std::span<const uint8_t> bytes, Error& e) {
    Model m;
    if (!e) e.check(fv_model_open_memory(bytes.data(), bytes.size(), &m.model_));
    return m;
  }
  size_t inputs() const { return fv_model_inputs(model_); }
  size_t outputs() const { return fv_model_outputs(model_); }
  const char* meta(const char* key) const { return fv_model_meta(model_, key); }
  fv_model* get() const { return model_; }

 private:
  fv_model* model_ = nullptr;
};

struct SessionOptions {
  const char* devices = "auto";
  int32_t threads = 0;
  int32_t flags = 0;
};

// Used by one thread at a time. Move-only.
class Session {
 public:
  Session() = default;
  Session(Session&& other) noexcept : session_(std::exchange(other.session_, nullptr)) {}
  Session& operator=(Session&& other) noexcept {
    std::swap(session_, other.session_);
    return *this;
  }
  ~Session() { fv_session_free(session_); }
  static Session create(const Model& model, const SessionOptions& o, Error& e) {
    Session s;
    const fv_session_options options{FV_ABI_INIT(fv_session_options), o.devices, o.threads,
                                     o.flags};
    if (!e) e.check(fv_session_new(model.get(), &options, &s.session_));
    return s;
  }
  void resize(size_t input, std::initializer_list<int64_t> dims, Error& e) {
    if (!e)
      e.check(fv_session_resize(session_, input, static_cast<int32_t>(dims.size()), dims.begin()));
  }
  // The session's own memory: valid until the next resize. An error if T is not its type.
  template <class T>
  std::span<T> input(size_t i, Error& e) {
    return view<T>(fv_session_input, i, e);
  }
  // Valid until the next run or resize.
  template <class T>
  std::span<const T> output(size_t i, Error& e) {
    return view<T>(fv_session_output, i, e);
  }
  std::vector<int64_t> output_shape(size_t i, Error& e) {
    fv_tensor t{};
    t.abi = FV_ABI_INIT(fv_tensor);
    if (e || !e.check(fv_session_output(session_, i, &t))) return {};
    return {t.dims, t.dims + t.rank};
  }
  void run(Error& e) {
    if (!e) e.check(fv_session_run(session_));
  }
  fv_session* get() const { return session_; }

 private:
  template <class T>
  std::span<T> view(fv_status* (*get)(fv_session*, size_t, fv_tensor*), size_t i, Error& e) {
    fv_tensor t{};
    t.abi = FV_ABI_INIT(fv_tensor);
    if (e || !e.check(get(session_, i, &t))) return {};
    if (t.dtype != dtype_of<T>()) {
      e.check(fv_status_new(FV_INVALID_ARGUMENT, 0, nullptr,
                            "the tensor has another element type than the one asked for",
                            "see fv_tensor.dtype"));
      return {};
    }
    return {static_cast<T*>(t.data), static_cast<size_t>(t.bytes / sizeof(T))};
  }
  fv_session* session_ = nullptr;
};

}  // namespace fv
#endif  // FOVEAL_FOVEAL_HPP_
