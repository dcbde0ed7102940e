// The plugin's entry: which instruction set this machine runs, and its kernels.
#include <cstdlib>

#include "common/cpu.h"

namespace foveal::cpu {

#define FV_ISA_LIST(X) \
  FV_ISA_SSE4(X) FV_ISA_AVX2(X) FV_ISA_AVX512(X) FV_ISA_NEON(X) FV_ISA_WASM(X) FV_ISA_BASE(X)

// X(name, text for people, test on this machine), lowest first; only those that were compiled.
#ifdef FV_ISAS_sse4
#define FV_ISA_SSE4(X) X(sse4, "SSE4.2", __builtin_cpu_supports("sse4.2"))
#else
#define FV_ISA_SSE4(X)
#endif
#ifdef FV_ISAS_avx2
#define FV_ISA_AVX2(X) \
  X(avx2, "AVX2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define FV_ISA_AVX2(X)
#endif
#ifdef FV_ISAS_avx512
#define FV_ISA_AVX512(X)                                                            \
  X(avx512, "AVX-512",                                                              \
    __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&      \
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && \
        __builtin_cpu_supports("fma"))
#else
#define FV_ISA_AVX512(X)
#endif
#ifdef FV_ISAS_neon
#define FV_ISA_NEON(X) X(neon, "NEON", true)
#else
#define FV_ISA_NEON(X)
#endif
#ifdef FV_ISAS_wasm
#define FV_ISA_WASM(X) X(wasm, "SIMD128", true)
#else
#define FV_ISA_WASM(X)
#endif
#ifdef FV_ISAS_base
#define FV_ISA_BASE(X) X(base, "portable", true)
#else
#define FV_ISA_BASE(X)
#endif

#define X(name, text, test)         \
  namespace name {                  \
  void kernels_of_##name(Kernels&); \
  }
FV_ISA_LIST(X)
#undef X

namespace {

struct Isa {
  const char* name;
  const char* text;
  bool usable;
  void (*kernels)(Kernels&);
};

// The best usable one, or the one that FOVEAL_CPU_ISA names; kernels is NULL when there is none.
const Isa& choose(std::string& reason) {
  static const Isa none{"", "", false, nullptr};
  static const Isa all[] = {
#define X(name, text, test) {#name, text, static_cast<bool>(test), name::kernels_of_##name},
      FV_ISA_LIST(X)
#undef X
  };
  const char* wanted = std::getenv("FOVEAL_CPU_ISA");
  const Isa* best = &none;
  for (const Isa& isa : all)
    if (isa.usable && (!wanted || !*wanted || !std::strcmp(isa.name, wanted))) best = &isa;
  if (best == &none)
    reason = wanted && *wanted
                 ? format("FOVEAL_CPU_ISA=%s is not an instruction set of this machine", wanted)
                 : std::string("this processor lacks ") + all[0].text;
  return *best;
}

std::vector<fv_device_info> devices() {
  std::string reason;
  const Isa& isa = choose(reason);
  return {plugin::device("cpu", isa.text, isa.kernels ? 100 : 0, reason.c_str())};
}

std::span<const KernelDef> kernels(int) {
  static const Kernels list = [] {
    std::string reason;
    const Isa& isa = choose(reason);
    Kernels k;
    if (isa.kernels) isa.kernels(k);
    return k;
  }();
  return list;
}

const plugin::PluginDef kPlugin{"cpu", "1.0.0", "Foveal", devices, kernels};

}  // namespace
}  // namespace foveal::cpu

#if defined(FV_OWN_LIBSTDCXX)
// A copy of the standard library of its own has a block of memory of its own, for exceptions when
// there is none left. It knows of no unloading.
namespace __gnu_cxx {
void __freeres();
}
[[gnu::destructor]] static void unload() { __gnu_cxx::__freeres(); }
#endif

extern "C" FV_PLUGIN_EXPORT const fv_plugin_api* foveal_plugin() {
  return foveal::plugin::api<&foveal::cpu::kPlugin>();
}
