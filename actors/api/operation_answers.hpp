#pragma once

#include "actors/api/api.hpp"
#include "actors/api/log_request.hpp"
#include "actors/support/store_readers.hpp"

#include <functional>
#include <string>

/// The API's answers with operations of the log. All read the store, so they
/// are made on threads of READERs. `cancelled` is asked while they read; when
/// it says true the answer is 503.
namespace weir::actors {

/// `GET /v1/ops`: the operations of all partitions after a place (OPLOG-15).
/// 409 when the place is of another log.
net::http_reply operations_reply(const context& shared, const log_request& x,
                                 const std::function<bool()>& cancelled);

/// `GET /v1/repos/:did/ops`: those of one stream (OPLOG-13, OPLOG-14) and the
/// index of its next one (OPLOG-31).
net::http_reply stream_reply(const context& shared, const atproto::did& repo,
                             const stream_request& x,
                             const std::function<bool()>& cancelled);

/// `GET /v1/repos/:did/ops/:collection/:index`: one operation (OPLOG-12).
net::http_reply one_operation_reply(const context& shared,
                                    const atproto::did& repo,
                                    const std::string& scope, uint64_t index,
                                    bool with_content,
                                    const std::function<bool()>& cancelled);

} // namespace weir::actors
