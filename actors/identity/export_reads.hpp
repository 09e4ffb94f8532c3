#pragma once

#include "actors/support/all_stores.hpp"
#include "messages/identity.hpp"

#include <optional>
#include <utility>

/// Work that a READER does for IDENTITY on its own thread.
namespace weir::actors {

/// The stored row of a DID. The exported row counts when there is no other.
/// @param as_of The time, in Unix seconds, at which the export was valid; none:
/// it does not count.
inline identity_stored stored_of(const all_stores& stores,
                                 const atproto::did& repo,
                                 std::optional<int64_t> as_of) {
  identity_stored out{repo, std::nullopt};
  const auto row = stores.of(repo).load_identity(repo);
  if (row)
    out.row = *row;
  if (!row || out.row || !as_of)
    return out;
  if (auto exported = stores.each().front()->load_exported(repo)) {
    out.exported = std::move(*exported);
    if (out.exported)
      out.exported->fetched_at = *as_of;
  }
  return out;
}

/// Decodes the operations of a page.
inline export_page read_page(export_page x) {
  x.operations = atproto::parse_export_page(as_text(x.text), x.after);
  if (x.operations && x.operations->size() > x.lines)
    x.operations = fail(ec::malformed, "more operations than were asked for");
  x.text.clear();
  x.read = true;
  return x;
}

} // namespace weir::actors
