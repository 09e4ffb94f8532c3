#include "actors/supervisor/listing_compare.hpp"

#include "actors/supervisor/listing_machine.hpp"

namespace weir::actors {

std::vector<repo_listed> drop_known_lines(std::vector<repo_listed>& lines,
                                          const store_readers& store,
                                          const upstream_board& board) {
  std::vector<repo_listed> unknown;
  std::erase_if(lines, [&](const repo_listed& line) {
    const auto known = store.load_repo(line.repo);
    if (!known)
      return false;
    if (!known->row) {
      unknown.push_back(line);
      return true;
    }
    return !is_news({line.rev, line.account, line.noted, line.upstream,
                     line.asked_at},
                    *known->row, known->chain.get(), board);
  });
  return unknown;
}

} // namespace weir::actors
