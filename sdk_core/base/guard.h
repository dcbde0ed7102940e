// Where memory that ran out becomes an error.
//
// No code of ours throws, but the standard library does when it gets no memory. Every function
// that a C caller or another library calls, and that may allocate, runs inside guard(): nothing
// ever unwinds into foreign frames. Between a guard and an allocation everything is owned by
// objects with destructors. Where there are no exceptions (WebAssembly, say) a guard is the plain
// call, and running out of memory ends the process.
//
//   fv_status* fv_thing_new(fv_thing** out) {
//     return guard(__func__, {{"out", out}}, [&] { ...; return ok(); });
//   }
#ifndef FOVEAL_BASE_GUARD_H_
#define FOVEAL_BASE_GUARD_H_

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <stdexcept>

#include "base/status.h"

namespace foveal {

inline fv_status* into_c(Status s) { return s.release(); }
inline fv_status* into_c(fv_status* s) { return s; }

// The one handler of a library; guard() below is what to call.
#if defined(__cpp_exceptions)
[[gnu::noinline]] inline fv_status* guard_call(const char* where, fv_status* (*call)(void*),
                                               void* ctx) noexcept {
  fv_code code = FV_INTERNAL;
  const char* what = "an exception of the standard library";
  try {
    return call(ctx);
  } catch (const std::bad_alloc&) {
    code = FV_OUT_OF_MEMORY;
    what = "out of memory";
  } catch (const std::length_error&) {  // a container of more than can be addressed
    code = FV_OUT_OF_MEMORY;
    what = "out of memory: more than can be addressed";
  } catch (...) {
  }
  try {
    return Status(code, std::string(where) + ": " + what).release();
  } catch (...) {
    return no_memory_status();
  }
}
#else
inline fv_status* guard_call(const char*, fv_status* (*call)(void*), void* ctx) {
  return call(ctx);
}
#endif

// f() returns a Status or an fv_status*, which the caller gets. `where` begins the error's text.
template <class F>
fv_status* guard(const char* where, F&& f) noexcept {
  using Fn = std::remove_reference_t<F>;
  return guard_call(
      where, [](void* ctx) { return into_c((*static_cast<Fn*>(ctx))()); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

struct Argument {
  const char* name;
  const void* pointer;
  size_t count = 1;  // of the elements behind it: with 0 of them it may be NULL
};

// The same after checking that these arguments were given.
template <class F>
fv_status* guard(const char* where, std::initializer_list<Argument> needed, F&& f) noexcept {
  return guard(where, [&]() -> fv_status* {
    for (const Argument& a : needed)
      if (!a.pointer && a.count)
        return Status(FV_INVALID_ARGUMENT, format("%s: %s is NULL", where, a.name)).release();
    return into_c(f());
  });
}

// f(), or `otherwise` when memory runs out: for answers that are no errors.
template <class T, class F>
T guard_or(T otherwise, F&& f) noexcept {
#if defined(__cpp_exceptions)
  try {
    return f();
  } catch (...) {
    return otherwise;
  }
#else
  (void)otherwise;
  return f();
#endif
}

// A copy that a C caller owns and frees with fv_string_free.
inline Status give_string(const std::string& text, char** out) {
  *out = static_cast<char*>(std::malloc(text.size() + 1));
  if (!*out) return Status(FV_OUT_OF_MEMORY, "no memory for a text");
  std::memcpy(*out, text.c_str(), text.size() + 1);
  return ok();
}

}  // namespace foveal
#endif  // FOVEAL_BASE_GUARD_H_
