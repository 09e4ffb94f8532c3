#include "actors/repo/repo_types.hpp"

#include <array>

namespace weir::actors {

namespace {

/// In the order of `repo_counter`.
constexpr std::array counter_names{"applied",          "filtered",
                                   "replayed",         "bad_shape",
                                   "future_rev",       "bad_signature",
                                   "bad_proof",        "unverifiable",
                                   "wrong_host",       "inactive_account",
                                   "out_of_sync",      "buffered",
                                   "buffer_overflow",  "chain_broken",
                                   "sync_applied",     "sync_noop",
                                   "sync_refused",     "identity_changed",
                                   "account_changed",  "identity_unresolved",
                                   "listing_mismatch", "update_refused",
                                   "poison",           "record_undecodable",
                                   "update_bounced"};
static_assert(counter_names.size()
              == static_cast<size_t>(repo_counter::last_) + 1);

} // namespace

const char* to_string(repo_counter x) noexcept {
  return counter_names[static_cast<size_t>(x)];
}

} // namespace weir::actors
