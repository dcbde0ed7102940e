// The edge where memory that ran out becomes an error.
#include "base/guard.h"

#include <string>
#include <vector>

#include "check.h"
#include "foveal/foveal.h"

using namespace foveal;

namespace {

// What a container does when malloc fails, and when more is asked for than can be addressed.
Status hoard(size_t bytes) {
  std::string().reserve(bytes);
  return ok();
}

void errors() {
  CHECK_OK(Status(guard("call", [] { return ok(); })));
  CHECK_OK(Status(guard("call", [] { return static_cast<fv_status*>(nullptr); })));
  CHECK_ERROR(Status(guard("call", [] { return Status(FV_SHAPE_ERROR, "no"); })), FV_SHAPE_ERROR,
              "no");
#if defined(__cpp_exceptions)
  CHECK_ERROR(Status(guard("call", []() -> Status { throw std::bad_alloc(); })), FV_OUT_OF_MEMORY,
              "call: out of memory");
  CHECK_ERROR(Status(guard("call", [] { return hoard(SIZE_MAX); })), FV_OUT_OF_MEMORY,
              "more than can be addressed");
  CHECK_ERROR(Status(guard("call", []() -> Status { throw 1; })), FV_INTERNAL, "call: ");
  CHECK_EQ(guard_or(7, []() -> int { throw std::bad_alloc(); }), 7);
#endif
  CHECK_EQ(guard_or(7, [] { return 8; }), 8);
}

// The error that needs no memory is one object: nothing changes or frees it.
void the_last_error() {
  for (int i = 0; i < 2; ++i) {
    Status s(no_memory_status());
    CHECK_ERROR(s, FV_OUT_OF_MEMORY, "out of memory");
    s = std::move(s).within("somewhere").for_op("relu");
    CHECK_EQ(s.message(), std::string("out of memory"));
    CHECK(s.copy().get() == s.get());
    fv_status* released = s.release();
    CHECK_EQ(std::string(fv_status_text(released)), std::string("out of memory"));
    CHECK_EQ(std::string(fv_status_op(released)), std::string());
    fv_status_free(released);
    fv_status_free(nullptr);
  }
}

}  // namespace

int main() {
  errors();
  the_last_error();
  return CHECK_RESULT();
}
