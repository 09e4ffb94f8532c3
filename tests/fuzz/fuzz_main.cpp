#include "tests/fuzz/target.hpp"

#include <cstdlib>

// libFuzzer's entry point for one target, WEIR_FUZZ_TARGET.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto run = [] {
    for (const auto& x : weir::fuzz::all_targets())
      if (x.name == WEIR_FUZZ_TARGET)
        return x.run;
    std::abort();
  }();
  run({data, size});
  return 0;
}
