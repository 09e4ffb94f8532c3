#include "storage/identity_table.hpp"

#include "storage/row_access.hpp"

namespace weir::storage {

result<std::optional<identity_row>> load_identity(const database& db,
                                                  const atproto::did& repo) {
  return load_row<identity_row>(db, identity_key{repo});
}

result<std::vector<std::optional<identity_row>>>
load_identities(const database& db, std::span<const atproto::did> repos) {
  std::vector<std::optional<identity_row>> out;
  out.reserve(repos.size());
  for (const auto& repo : repos) {
    auto row = load_identity(db, repo);
    if (!row)
      return row.error();
    out.push_back(std::move(*row));
  }
  return out;
}

result<std::optional<atproto::did>> load_handle(const database& db,
                                                const std::string& handle) {
  const auto text = load_row<stored_bytes>(db, handle_key{handle});
  if (!text)
    return text.error();
  if (!*text)
    return std::optional<atproto::did>{};
  return std::optional{
    atproto::did::trusted(std::string{as_text((*text)->value)})};
}

} // namespace weir::storage
