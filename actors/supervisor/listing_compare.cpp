#include "actors/supervisor/listing_compare.hpp"

#include "actors/supervisor/listed_line.hpp"
#include "storage/tables/chain_table.hpp"
#include "storage/tables/collection_table.hpp"

namespace weir::actors {

namespace {

/// The rows with which a line is compared, and no others, because a listing
/// names every repo.
struct compared_rows {
  std::optional<storage::repo_row> row;
  std::shared_ptr<const storage::chain_row> chain; ///< Only for a repo in sync.
};

result<compared_rows> load(const store_readers& store,
                           const atproto::did& repo) {
  compared_rows out;
  auto row = store.load_row(repo);
  if (!row)
    return row.error();
  out.row = std::move(*row);
  if (!out.row || out.row->status != storage::repo_status::synced)
    return out;
  auto chain = storage::load_chain(store.db, store.names, repo);
  if (!chain)
    return chain.error();
  out.chain = std::move(*chain);
  return out;
}

} // namespace

std::vector<repo_listed> drop_known_lines(std::vector<repo_listed>& lines,
                                          const all_stores& stores,
                                          const upstream_board& board,
                                          wall_time now) {
  std::vector<repo_listed> unknown;
  std::erase_if(lines, [&](const repo_listed& line) {
    const auto& store = stores.of(line.repo);
    const auto known = load(store, line.repo);
    if (!known)
      return false;
    if (!known->row) {
      unknown.push_back(line);
      return true;
    }
    if (is_news(line, *known->row, known->chain.get(), board))
      return false;
    if (!denies_tombstone(line, *known->row, board))
      return true;
    const auto identity = store.load_identity(line.repo);
    return identity && *identity && !is_due_again(**identity, now);
  });
  return unknown;
}

} // namespace weir::actors
