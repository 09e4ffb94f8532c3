#pragma once

#include "atproto/did_document.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The export of the directory of did:plc identifiers: `GET /export?after=N`,
/// JSON lines of all operations of all DIDs, numbered by `seq` (did:plc
/// specification, "Bulk Export").
namespace weir::atproto {

/// One operation. The last one of a DID says what its document is.
struct exported_operation {
  uint64_t number = 0; ///< `seq`; those of a page grow.
  std::string id;      ///< CID, as the directory writes it. Not checked.
  did repo;
  /// What `GET /:did` gives after it. None: there is no document (a tombstone),
  /// or none that could be used; a look-up tells which.
  std::optional<did_document> doc;
};

/// Parses a page. Signatures and hashes are not checked: the directory is
/// believed as much as when it is asked for a document.
///
/// # Limits
/// `limits::export_page_lines` lines of `limits::export_line_bytes_max` each;
/// a document has those of `parse_did_document`.
/// @param after Each number is larger than this one.
/// @returns `ec::malformed` when a line is none of an export with numbers, or
/// they do not grow. The rest of the page counts for nothing then.
result<std::vector<exported_operation>> parse_export_page(std::string_view text,
                                                          uint64_t after);

} // namespace weir::atproto
