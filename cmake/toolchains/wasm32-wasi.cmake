# WebAssembly with WASI, one thread, SIMD128, with the compiler of PyPI's `ziglang`. FOVEAL_ZIG: its
# path; without it the zig of python3's `ziglang`, or of the PATH. The first use compiles a C++
# library, which takes minutes.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FOVEAL_ZIG)
if(NOT FOVEAL_ZIG)
  execute_process(
    COMMAND python3 -c "import ziglang; print(list(ziglang.__path__)[0])"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_program(FOVEAL_ZIG zig HINTS ${folder} REQUIRED)
endif()
set(CMAKE_C_COMPILER ${FOVEAL_ZIG} cc)
set(CMAKE_CXX_COMPILER ${FOVEAL_ZIG} c++)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
# zig's ar and ranlib are subcommands, CMake's variables hold programs.
foreach(language C CXX)
  set(CMAKE_${language}_ARCHIVE_CREATE "${FOVEAL_ZIG} ar qc <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_APPEND "${FOVEAL_ZIG} ar q <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_FINISH "${FOVEAL_ZIG} ranlib <TARGET>")
endforeach()
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_EXECUTABLE_SUFFIX_C .wasm)
set(CMAKE_EXECUTABLE_SUFFIX_CXX .wasm)
