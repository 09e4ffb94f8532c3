#include "actors/supervisor/listing_compare.hpp"

#include "actors/supervisor/listing_machine.hpp"

namespace weir::actors {

void drop_known_lines(std::vector<repo_listed>& lines,
                      const store_readers& store, const upstream_board& board,
                      bool discover) {
  std::erase_if(lines, [&](const repo_listed& line) {
    const auto known = store.load_repo(line.repo);
    if (!known)
      return false;
    if (!known->row)
      return !discover;
    return !is_news({line.rev, line.account, line.noted, line.upstream},
                    *known->row, known->chain.get(), board);
  });
}

} // namespace weir::actors
