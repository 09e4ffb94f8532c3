#pragma once

#include "actors/api/api.hpp"
#include "actors/support/completeness.hpp"
#include "actors/support/store_readers.hpp"
#include "wire/completeness_api.hpp"

#include <optional>
#include <string>

/// The API's answers about whether copies are whole, and why they are not
/// (completeness.md).
namespace weir::actors {

/// The result as one word, and the reason as one sentence.
struct completeness_verdict {
  std::optional<bool> complete; ///< Unset: the account is not active.
  std::string reason;
};

completeness_verdict judge(const api_environment& env,
                           const storage::repo_row& row,
                           const storage::chain_row* chain);

/// `/v1/repos/:did/completeness`; 404 when the repo is not tracked.
net::http_reply completeness_reply(const store_readers& store,
                                   const api_environment& env,
                                   const atproto::did& did);

/// `/v1/completeness`: the last census, for the node and a page of hosts.
net::http_reply summary_reply(const api_environment& env,
                              const net::incoming_request& request);

/// Appends the short form of the census, for `/status`.
void append_short_count(const context& shared, std::string& out);

} // namespace weir::actors
