#pragma once

#include "actors/api/api.hpp"
#include "actors/api/log_request.hpp"
#include "actors/support/store_readers.hpp"

#include <functional>
#include <string>

/// The API's answers with records of one repo. They read the store, so they are
/// made on threads of READERs. While the account is not active there are none:
/// 404 with the state of the account.
namespace weir::actors {

/// `GET /v1/repos/:did/records`: one page of the current records.
net::http_reply records_reply(const context& shared, const atproto::did& repo,
                              const records_request& x);

/// A record in the path of a request.
struct record_path {
  std::string collection;
  std::string rkey;
};

/// Reads the path; `ec::invalid_argument` when a part is malformed.
result<record_path> parse_record_path(const std::string& collection,
                                      const std::string& rkey);

/// `GET /v1/repos/:did/records/:collection/:rkey`: the current version.
net::http_reply record_reply(const context& shared, const atproto::did& repo,
                             const record_path& path);

/// The same with `at`: the version at an earlier rev, from the log.
/// @param cancelled Asked while it reads; when it says true the answer is 503.
net::http_reply past_record_reply(const context& shared,
                                  const atproto::did& repo,
                                  const record_path& path, atproto::tid rev,
                                  const std::function<bool()>& cancelled);

} // namespace weir::actors
