#include "actors/repo/keep_doubts.hpp"

namespace weir::actors {

bool keep_doubts(const repo_machine& of, doubt_claim& claim,
                 const context& shared) {
  const auto wanted = of.doubted();
  if (wanted == doubt_bytes{}) {
    claim.clear();
    return true;
  }
  for (const auto what : {shortage::memory, shortage::disk})
    if (shared.intake.level(what) != intake_level::open)
      return false;
  return claim.set(doubt_source(of.repo(), of.doubted_from()), wanted);
}

} // namespace weir::actors
