// Writing JSON: quoting. The rest is plain string building.
#ifndef FOVEAL_BASE_JSON_TEXT_H_
#define FOVEAL_BASE_JSON_TEXT_H_

#include <cstdio>
#include <string>
#include <string_view>

namespace foveal {

// A JSON string literal. Bytes >= 0x80 are passed through: callers hold UTF-8.
inline std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// A JSON number; JSON has no infinities, so those become null.
inline std::string json_number(double v) {
  if (!(v - v == 0)) return "null";
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", v);
  return text;
}

}  // namespace foveal
#endif  // FOVEAL_BASE_JSON_TEXT_H_
