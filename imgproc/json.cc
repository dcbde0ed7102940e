#include "imgproc/json.h"

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/json_text.h"

namespace foveal::imgproc::json {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  Result<Value> run() {
    if (text_.size() > kMaxBytes)
      return Status(FV_SPEC_ERROR, format("%s: %zu bytes of JSON, at most %zu are accepted",
                                          what_.c_str(), text_.size(), kMaxBytes));
    Value v;
    FV_TRY(value(v, 0));
    space();
    if (at_ != text_.size()) return fail("end of text");
    return v;
  }

 private:
  Status fail(const char* expected) const {
    std::string got = "end of text";
    if (at_ < text_.size()) {
      const unsigned char c = static_cast<unsigned char>(text_[at_]);
      got = c >= 32 && c < 127 ? format("'%c'", c) : format("byte 0x%02x", c);
    }
    return Status(FV_SPEC_ERROR, format("%s: not valid JSON at byte %zu: expected %s, got %s",
                                        what_.c_str(), at_, expected, got.c_str()));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool more() const { return at_ < text_.size(); }
  void space() {
    while (more() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) ++at_;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  Status value(Value& v, int depth) {
    if (depth > kMaxDepth)
      return Status(FV_SPEC_ERROR, format("%s: JSON nested deeper than %d at byte %zu",
                                          what_.c_str(), kMaxDepth, at_));
    space();
    v.offset = at_;
    switch (peek()) {
      case '{':
        return object(v, depth);
      case '[':
        return array(v, depth);
      case '"':
        v.type = Type::kString;
        return text(v.string);
      case 't':
      case 'f':
        v.type = Type::kBool;
        v.boolean = peek() == 't';
        return word(v.boolean ? "true" : "false") ? ok() : fail("true or false");
      case 'n':
        return word("null") ? ok() : fail("null");
      default:
        return number(v);
    }
  }

  Status number(Value& v) {
    const size_t begin = at_;
    const auto digits = [&] {
      const size_t from = at_;
      while (peek() >= '0' && peek() <= '9') ++at_;
      return at_ - from;
    };
    if (peek() == '-') ++at_;
    const bool zero = peek() == '0';
    const size_t whole = digits();
    if (whole == 0) return fail("a value");
    if (zero && whole > 1) return at_ = begin, fail("a number without leading zeros");
    if (peek() == '.') {
      ++at_;
      if (digits() == 0) return fail("a digit");
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (digits() == 0) return fail("a digit");
    }
    v.type = Type::kNumber;
    // strtod reads the decimal point of the process's locale, whatever that is.
    std::string text(text_.substr(begin, at_ - begin));
    if (const size_t dot = text.find('.'); dot != std::string::npos)
      text.replace(dot, 1, std::localeconv()->decimal_point);
    v.number = std::strtod(text.c_str(), nullptr);
    if (!std::isfinite(v.number))
      return at_ = begin, fail("a number that fits 64-bit floating point");
    return ok();
  }

  Status hex4(unsigned& out) {
    out = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      int d;
      if (c >= '0' && c <= '9')
        d = c - '0';
      else if (c >= 'a' && c <= 'f')
        d = c - 'a' + 10;
      else if (c >= 'A' && c <= 'F')
        d = c - 'A' + 10;
      else
        return fail("four hexadecimal digits");
      out = out * 16 + static_cast<unsigned>(d);
    }
    return ok();
  }

  static void utf8(unsigned c, std::string& out) {
    const auto put = [&](unsigned b) { out += static_cast<char>(b); };
    if (c < 0x80) return put(c);
    if (c < 0x800) return put(0xC0 | c >> 6), put(0x80 | (c & 63));
    if (c < 0x10000) return put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63)),
        put(0x80 | (c & 63));
  }

  Status text(std::string& out) {
    ++at_;  // opening quote
    for (;;) {
      if (!more()) return fail("'\"'");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 32) return fail("no control character in a string");
      ++at_;
      if (c == '"') return ok();
      if (c != '\\') {
        out += c;
        continue;
      }
      const char e = peek();
      static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
      if (const size_t i = kFrom.find(e); e != '\0' && i != std::string_view::npos) {
        out += kTo[i];
        ++at_;
      } else if (e == 'u') {
        ++at_;
        unsigned hi, lo;
        FV_TRY(hex4(hi));
        if (hi >= 0xD800 && hi < 0xDC00) {
          if (!word("\\u")) return fail("the second half of a surrogate pair");
          FV_TRY(hex4(lo));
          if (lo < 0xDC00 || lo > 0xDFFF) return fail("the second half of a surrogate pair");
          hi = 0x10000 + ((hi - 0xD800) << 10) + (lo - 0xDC00);
        } else if (hi >= 0xDC00 && hi <= 0xDFFF) {
          return fail("the first half of a surrogate pair");
        }
        utf8(hi, out);
      } else {
        return fail("an escape character");
      }
    }
  }

  Status array(Value& v, int depth) {
    v.type = Type::kArray;
    ++at_;
    space();
    if (peek() == ']') return ++at_, ok();
    for (;;) {
      v.items.emplace_back();
      FV_TRY(value(v.items.back(), depth + 1));
      space();
      if (peek() == ']') return ++at_, ok();
      if (peek() != ',') return fail("',' or ']'");
      ++at_;
    }
  }

  Status object(Value& v, int depth) {
    v.type = Type::kObject;
    ++at_;
    space();
    if (peek() == '}') return ++at_, ok();
    for (;;) {
      space();
      if (peek() != '"') return fail("a key in quotes");
      std::string key;
      FV_TRY(text(key));
      if (v.find(key))
        return Status(FV_SPEC_ERROR, format("%s: key \"%s\" given twice (byte %zu)", what_.c_str(),
                                            key.c_str(), at_));
      space();
      if (peek() != ':') return fail("':'");
      ++at_;
      v.members.push_back({std::move(key), Value()});
      FV_TRY(value(v.members.back().second, depth + 1));
      space();
      if (peek() == '}') return ++at_, ok();
      if (peek() != ',') return fail("',' or '}'");
      ++at_;
    }
  }

  std::string_view text_;
  const std::string& what_;
  size_t at_ = 0;
};

std::string describe(const Value& v) {
  switch (v.type) {
    case Type::kNull:
      return "null";
    case Type::kBool:
      return v.boolean ? "true" : "false";
    case Type::kNumber:
      return number(v.number);
    case Type::kString:
      return quote(v.string.size() > 60 ? v.string.substr(0, 60) : v.string);
    case Type::kArray: {
      // The first few elements; what is inside them would be too much for a message.
      constexpr size_t kShown = 9;
      std::string list;
      for (size_t i = 0; i < std::min(v.items.size(), kShown); ++i) {
        const bool nested = v.items[i].type == Type::kArray;
        list += (i ? ", " : "") + (nested ? "[...]" : describe(v.items[i]));
      }
      if (v.items.size() > kShown) list += format(", ... %zu in all", v.items.size());
      return "[" + list + "]";
    }
    case Type::kObject:
      return "an object";
  }
  return "?";
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

const char* type_name(Type t) {
  static constexpr const char* kNames[] = {"null", "bool", "number", "string", "array", "object"};
  return kNames[static_cast<int>(t)];
}

Result<Value> parse(std::string_view text, const std::string& what) {
  return Parser(text, what).run();
}

std::string number(double v) {
  char text[40];
  int n = 0;
  for (int digits = 15; digits <= 17; ++digits) {
    n = std::snprintf(text, sizeof text, "%.*g", digits, v == 0 ? 0.0 : v);
    if (std::strtod(text, nullptr) == v) break;
  }
  std::string out(text, static_cast<size_t>(n));
  const std::string point = std::localeconv()->decimal_point;
  if (const size_t at = out.find(point); at != std::string::npos)
    out.replace(at, point.size(), ".");
  return out;
}

std::string numbers(const std::vector<double>& v) {
  std::string s = "[";
  for (size_t i = 0; i < v.size(); ++i) {
    if (i) s += ',';
    s += number(v[i]);
  }
  s += ']';
  return s;
}

std::string quote(std::string_view s) { return json_quote(s); }

Result<Object> Object::of(const Value& v, std::string path) {
  if (v.type != Type::kObject)
    return Status(FV_SPEC_ERROR, path + ": expected an object, got " + describe(v));
  Object o;
  o.value_ = &v;
  o.path_ = std::move(path);
  return o;
}

Status Object::error(std::string_view key, const std::string& expected, const Value* got) const {
  return Status(FV_SPEC_ERROR,
                path_ + ": key " + quote(key) + ": expected " + expected +
                    (got ? ", got " + describe(*got) : std::string(", got nothing")));
}

Status Object::only(std::initializer_list<std::string_view> known, Names also) const {
  std::vector<std::string_view> all(also.begin(), also.end());
  all.insert(all.end(), known.begin(), known.end());
  for (const auto& [key, value] : value_->members) {
    bool found = false;
    std::string list;
    for (const std::string_view k : all) {
      found = found || k == key;
      list += (list.empty() ? "" : ", ") + std::string(k);
    }
    if (!found)
      return Status(FV_SPEC_ERROR, path_ + ": unknown key " + quote(key), "known keys: " + list);
  }
  return ok();
}

Status Object::require(std::string_view key) const {
  return has(key) ? ok() : Status(FV_SPEC_ERROR, path_ + ": key " + quote(key) + " is missing");
}

Status Object::read(std::string_view key, double& out) const {
  const Value* v = find(key);
  if (!v) return ok();
  if (v->type != Type::kNumber) return error(key, "a number", v);
  out = v->number;
  return ok();
}

Status Object::read(std::string_view key, bool& out) const {
  const Value* v = find(key);
  if (!v) return ok();
  if (v->type != Type::kBool) return error(key, "true or false", v);
  out = v->boolean;
  return ok();
}

Status Object::read(std::string_view key, std::string& out) const {
  const Value* v = find(key);
  if (!v) return ok();
  if (v->type != Type::kString) return error(key, "a string", v);
  out = v->string;
  return ok();
}

Status Object::read_int(std::string_view key, int lo, int hi, int& out) const {
  const Value* v = find(key);
  if (!v) return ok();
  if (v->type != Type::kNumber || v->number != std::floor(v->number) || v->number < lo ||
      v->number > hi)
    return error(key, format("a whole number in %d..%d", lo, hi), v);
  out = static_cast<int>(v->number);
  return ok();
}

Status Object::read(std::string_view key, size_t n, bool allow_scalar,
                    std::vector<double>& out) const {
  const Value* v = find(key);
  if (!v) return ok();
  if (allow_scalar && v->type == Type::kNumber) {
    out.assign(n, v->number);
    return ok();
  }
  const std::string expected =
      (allow_scalar ? "a number or " : "") +
      (n ? format("an array of %zu numbers", n) : std::string("an array of at least one number"));
  if (v->type != Type::kArray || (n ? v->items.size() != n : v->items.empty()))
    return error(key, expected, v);
  std::vector<double> list;
  for (const Value& item : v->items) {
    if (item.type != Type::kNumber) return error(key, expected, &item);
    list.push_back(item.number);
  }
  out = std::move(list);
  return ok();
}

Status Object::read_enum(std::string_view key, Names names, int& out) const {
  const Value* v = find(key);
  if (!v) return ok();
  std::string list;
  int i = 0;
  for (const std::string_view name : names) {
    if (v->type == Type::kString && v->string == name) {
      out = i;
      return ok();
    }
    list += (i++ ? ", " : "one of ") + quote(name);
  }
  return error(key, list, v);
}

Status Object::object(std::string_view key, Object& out, bool& present) const {
  const Value* v = find(key);
  present = v != nullptr;
  if (!v) return ok();
  FV_ASSIGN(out, of(*v, path_ + ": " + std::string(key)));
  return ok();
}

}  // namespace foveal::imgproc::json
