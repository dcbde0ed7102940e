// What a build leaves out: everything that CMake's FOVEAL_OPERATORS and FOVEAL_PROFILES, lists of
// names for given models (`foveal needs`), do not name. Empty lists, the default, leave out
// nothing.
//
// FV_HAS_OPERATOR(name) and FV_HAS_PROFILE(name) are constants: code behind a false one is dropped
// by the compiler, and with it whatever it alone refers to.
#ifndef FOVEAL_BASE_SELECTION_H_
#define FOVEAL_BASE_SELECTION_H_

#include <algorithm>
#include <string_view>
#include <type_traits>

namespace foveal {

// list: names with commas between them.
constexpr bool is_listed(std::string_view list, std::string_view name) {
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    if (list.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

#if defined(FOVEAL_OPERATORS)
constexpr bool has_operator(std::string_view name) { return is_listed(FOVEAL_OPERATORS, name); }
#else
constexpr bool has_operator(std::string_view) { return true; }
#endif
#if defined(FOVEAL_PROFILES)
constexpr bool has_profile(std::string_view name) { return is_listed(FOVEAL_PROFILES, name); }
#else
constexpr bool has_profile(std::string_view) { return true; }
#endif

// What to do about an operator that is not there; `otherwise` where none is left out.
constexpr const char* missing_operator_hint([[maybe_unused]] const char* otherwise) {
#if defined(FOVEAL_OPERATORS)
  return "this build has the operators of given models only: name it in FOVEAL_OPERATORS";
#else
  return otherwise;
#endif
}

#define FV_HAS_OPERATOR(name) (std::bool_constant<::foveal::has_operator(name)>::value)
#define FV_HAS_PROFILE(name) (std::bool_constant<::foveal::has_profile(name)>::value)

}  // namespace foveal
#endif  // FOVEAL_BASE_SELECTION_H_
