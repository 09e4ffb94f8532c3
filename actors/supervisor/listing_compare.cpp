#include "actors/supervisor/listing_compare.hpp"

#include "actors/supervisor/listed_line.hpp"

namespace weir::actors {

std::vector<repo_listed> drop_known_lines(std::vector<repo_listed>& lines,
                                          const store_readers& store,
                                          const upstream_board& board,
                                          wall_time now) {
  std::vector<repo_listed> unknown;
  std::erase_if(lines, [&](const repo_listed& line) {
    const auto known = store.load_repo(line.repo);
    if (!known)
      return false;
    if (!known->row) {
      unknown.push_back(line);
      return true;
    }
    const listed_line said{line.rev, line.account, line.noted, line.upstream,
                           line.asked_at};
    if (is_news(said, *known->row, known->chain.get(), board))
      return false;
    if (!denies_tombstone(said, *known->row, board))
      return true;
    const auto identity = store.load_identity(line.repo);
    return identity && *identity && !is_due_again(**identity, now);
  });
  return unknown;
}

} // namespace weir::actors
