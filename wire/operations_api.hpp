#pragma once

#include "atproto/cid.hpp"
#include "atproto/frame.hpp"
#include "atproto/identifiers.hpp"
#include "base/bytes.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Bodies of the routes that read operations and records (OPLOG-12 to 15).
namespace weir::wire {

/// One operation. Borrows. What has no value is left out.
struct operation_view {
  uint64_t id = 0; ///< As in events.
  std::string op_id;
  std::string prev_op_id; ///< Empty for the first one of its stream.
  std::string hash;       ///< Of its stream up to it.
  std::string_view did;
  std::string_view collection; ///< Or a `$` scope.
  atproto::op_action action = atproto::op_action::create;
  std::string_view rkey;
  atproto::tid rev;
  const atproto::cid* cid = nullptr; ///< Null, or undefined, for a deletion.
  uint64_t index = 0;
  /// Of a commit: those right before it that have no operation; 0: left out.
  uint64_t passed = 0;
  int64_t time_ms = 0;
  int64_t written_ms = 0;
  bool live = true;
  std::string_view provenance; ///< "live", "buffer", "resync".
  std::string job;             ///< The commit or fetch that made it.
  std::string_view content;    ///< State of its content, in one word.
  bytes_view body;             ///< Empty when it is not to be shown.
  bool is_fact = false; ///< The body is the JSON of an account, not a record.
};

void append_operation(const operation_view& x, std::string& out);

/// Body of `GET /v1/ops`.
/// @param more There are later operations to look at now.
void append_operations(std::span<const operation_view> all,
                       std::string_view cursor, bool more, std::string& out);

/// Body of `GET /v1/repos/:did/ops`: a part of one stream.
struct stream_page_view {
  std::string_view did;
  std::string_view collection;
  uint64_t next_index = 0; ///< The index that its next operation gets.
  std::span<const operation_view> operations;
  std::string_view cursor; ///< Empty when nothing was looked at.
  bool more = false;
};

void append_stream_page(const stream_page_view& x, std::string& out);

/// One version of a record. Borrows.
struct record_view {
  std::string_view did;
  std::string_view collection;
  std::string_view rkey;
  const atproto::cid* cid = nullptr; ///< @pre not null, and defined
  atproto::tid rev;
  uint64_t id = 0;          ///< Of the operation that wrote it.
  std::string_view content; ///< State of its content, in one word.
  bytes_view body;          ///< Empty when it is not to be shown.
  /// The rev up to which the repo was read; undefined: left out.
  atproto::tid as_of;
};

/// Body of `GET /v1/repos/:did/records/:collection/:rkey`.
void append_record(const record_view& x, std::string& out);

/// Body of `GET /v1/repos/:did/records`: one page of a repo's records.
struct records_view {
  std::string_view did;
  std::string_view status;
  atproto::tid rev; ///< Undefined before the first fetch.
  std::span<const record_view> records;
  std::string_view cursor; ///< Empty on the last page.
};

void append_records(const records_view& x, std::string& out);

} // namespace weir::wire
