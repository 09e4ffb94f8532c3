#include "actors/supervisor/listing_compare.hpp"

namespace weir::actors {

namespace {

bool says_something_new(const repo_listed& line, const storage::repo_row& row,
                        const storage::chain_row* chain,
                        const upstream_board& board) {
  if (!line.rev.defined())
    return false; // It names the repo, no more.
  if (line.account != row.account)
    return true;
  if (row.status != storage::repo_status::synced)
    return false; // The coming fetch finds it.
  if (chain == nullptr || chain->rev != line.rev)
    return true;
  return line.noted.defined() && !row.fcsr.reaches(line.noted)
         && board.accounting_for(row.pds).id == line.upstream;
}

} // namespace

void drop_known_lines(std::vector<repo_listed>& lines,
                      const store_readers& store, const upstream_board& board,
                      bool discover) {
  std::erase_if(lines, [&](const repo_listed& line) {
    const auto known = store.load_repo(line.repo);
    if (!known)
      return false;
    if (!known->row)
      return !discover;
    return !says_something_new(line, *known->row, known->chain.get(), board);
  });
}

} // namespace weir::actors
