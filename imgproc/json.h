// Strict JSON (RFC 8259) for small specifications: numbers are f64, depth and size are bounded,
// duplicate keys are errors, every value knows its byte offset.
#ifndef FOVEAL_IMGPROC_JSON_H_
#define FOVEAL_IMGPROC_JSON_H_

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace foveal::imgproc::json {

using Names = std::span<const std::string_view>;

enum class Type { kNull, kBool, kNumber, kString, kArray, kObject };

struct Member;

struct Value {
  Type type = Type::kNull;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<Value> items;     // array
  std::vector<Member> members;  // object, in file order
  size_t offset = 0;

  const Value* find(std::string_view key) const;  // NULL when absent
};

struct Member {
  std::string first;
  Value second;
};

const char* type_name(Type t);

inline constexpr size_t kMaxBytes = size_t{1} << 20;
inline constexpr int kMaxDepth = 32;

// `what` begins the error text, e.g. "pipeline spec".
Result<Value> parse(std::string_view text, const std::string& what);

// Shortest text that reads back as the same double.
std::string number(double v);
std::string numbers(const std::vector<double>& v);  // "[1,2.5]"
std::string quote(std::string_view s);

// Typed access to one object's members, with errors that name the key.
class Object {
 public:
  // `path` names the object in errors ("pipeline spec", "pipeline spec: fit").
  static Result<Object> of(const Value& v, std::string path);
  Object() = default;

  // Refuses members outside both lists.
  Status only(std::initializer_list<std::string_view> known, Names also = {}) const;
  bool has(std::string_view key) const { return value_->find(key) != nullptr; }
  const Value* find(std::string_view key) const { return value_->find(key); }
  const std::string& path() const { return path_; }

  // Each leaves `out` alone when the key is absent.
  Status read(std::string_view key, double& out) const;
  Status read(std::string_view key, bool& out) const;
  Status read(std::string_view key, std::string& out) const;
  Status read_int(std::string_view key, int lo, int hi, int& out) const;
  // Exactly n numbers, or (if allow_scalar) one number repeated n times. n = 0: any count >= 1.
  Status read(std::string_view key, size_t n, bool allow_scalar, std::vector<double>& out) const;
  // Index of the member's string in `names`.
  Status read_enum(std::string_view key, Names names, int& out) const;
  Status object(std::string_view key, Object& out, bool& present) const;
  Status require(std::string_view key) const;

  Status error(std::string_view key, const std::string& expected, const Value* got) const;

 private:
  const Value* value_ = nullptr;
  std::string path_;
};

}  // namespace foveal::imgproc::json
#endif  // FOVEAL_IMGPROC_JSON_H_
