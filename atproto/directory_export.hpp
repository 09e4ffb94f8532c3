#pragma once

#include "atproto/did_document.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads the export of the did:plc directory: `GET /export?after=N` answers
/// with one JSON line for each operation of all DIDs, numbered by `seq`
/// (did:plc specification, "Bulk Export"; ADR 15).
namespace weir::atproto {

/// One operation. A DID's document follows from its last operation.
struct exported_operation {
  uint64_t number = 0; ///< The `seq`; it grows within a page.
  std::string id; ///< The CID as the directory writes it. It is not checked.
  did repo;
  /// The document that `GET /:did` would give after this operation. Absent when
  /// there is none (a tombstone) or none that can be used; a look-up tells
  /// which.
  std::optional<did_document> doc;
};

/// Parses one page. Signatures and hashes are not checked: the directory is
/// trusted here just as when it is asked for one document (ADR 15).
///
/// # Limits
/// At most `limits::export_page_lines` lines of `limits::export_line_bytes_max`
/// bytes each. The limits of `parse_did_document` hold for each document.
/// @param after Every number of the page must be larger than this one.
/// @returns `ec::malformed` when a line is no numbered operation, or the
/// numbers do not grow. Then nothing of the page is used.
result<std::vector<exported_operation>> parse_export_page(std::string_view text,
                                                          uint64_t after);

} // namespace weir::atproto
