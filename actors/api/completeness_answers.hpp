#pragma once

#include "actors/api/api.hpp"
#include "actors/support/completeness.hpp"
#include "actors/support/store_readers.hpp"
#include "wire/completeness_api.hpp"

#include <optional>
#include <string>

/// Whether copies are whole, and why not, as the API tells it
/// (completeness.md).
namespace weir::actors {

/// What a copy is judged by, besides its rows.
struct completeness_judge {
  const context& shared;
  uint32_t filter_generation = 0;

  upstream_view upstream_of(const storage::repo_row& row) const;
};

/// In one word, and in one sentence why not.
struct completeness_verdict {
  std::optional<bool> complete; ///< Unset: the account is not active.
  std::string reason;
};

completeness_verdict judge(const completeness_judge& by,
                           const storage::repo_row& row,
                           const storage::chain_row* chain);

/// `/v1/repos/:did/completeness`; 404 when the repo is not tracked.
net::http_reply completeness_reply(const store_readers& store,
                                   const completeness_judge& by,
                                   const atproto::did& did);

/// `/v1/completeness`: the last count, for the node and a page of hosts.
net::http_reply summary_reply(const api_environment& env,
                              const net::incoming_request& request);

/// The short form of the count, in `/status`.
void append_short_count(const context& shared, std::string& out);

} // namespace weir::actors
