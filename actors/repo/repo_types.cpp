#include "actors/repo/repo_types.hpp"

#include <algorithm>

namespace weir::actors {

const char* to_string(repo_counter x) noexcept {
  switch (x) {
    case repo_counter::commit_applied:
      return "applied";
    case repo_counter::commit_filtered:
      return "filtered";
    case repo_counter::replayed:
      return "replayed";
    case repo_counter::bad_shape:
      return "bad_shape";
    case repo_counter::future_rev:
      return "future_rev";
    case repo_counter::bad_signature:
      return "bad_signature";
    case repo_counter::bad_proof:
      return "bad_proof";
    case repo_counter::unverifiable:
      return "unverifiable";
    case repo_counter::wrong_host:
      return "wrong_host";
    case repo_counter::inactive_account:
      return "inactive_account";
    case repo_counter::out_of_sync:
      return "out_of_sync";
    case repo_counter::buffered:
      return "buffered";
    case repo_counter::buffer_overflow:
      return "buffer_overflow";
    case repo_counter::chain_broken:
      return "chain_broken";
    case repo_counter::sync_applied:
      return "sync_applied";
    case repo_counter::sync_noop:
      return "sync_noop";
    case repo_counter::sync_refused:
      return "sync_refused";
    case repo_counter::identity_changed:
      return "identity_changed";
    case repo_counter::account_changed:
      return "account_changed";
    case repo_counter::identity_unresolved:
      return "identity_unresolved";
    case repo_counter::listing_mismatch:
      return "listing_mismatch";
    case repo_counter::update_refused:
      return "update_refused";
    case repo_counter::poison:
      return "poison";
    case repo_counter::record_undecodable:
      return "record_undecodable";
    case repo_counter::update_bounced:
      return "update_bounced";
  }
  return "unknown";
}

size_t undecodable_in(const std::vector<storage::new_operation>& ops) noexcept {
  return static_cast<size_t>(
    std::count_if(ops.begin(), ops.end(),
                  [](const auto& x) { return x.undecodable; }));
}

} // namespace weir::actors
