#include "actors/supervisor/question_places.hpp"

#include <iterator>

namespace weir::actors {

question_places::answer question_places::take(const atproto::did& repo,
                                              std::string site, bool urgent) {
  answer out;
  if (places_.size() >= most_) {
    out.displaced = displaced_by(site, urgent);
    if (!out.displaced)
      return out;
    leave(*out.displaced);
  }
  auto& of = sites_[site];
  resize(site, of, true);
  of.movable.emplace(urgent, repo);
  places_.emplace(repo, place{std::move(site), urgent});
  out.taken = true;
  return out;
}

void question_places::set_running(const atproto::did& repo, bool running) {
  const auto& x = places_.at(repo);
  auto& movable = sites_.at(x.site).movable;
  if (running)
    movable.erase({x.urgent, repo});
  else
    movable.emplace(x.urgent, repo);
}

void question_places::leave(const atproto::did& repo) {
  const auto x = std::move(places_.extract(repo).mapped());
  auto& of = sites_.at(x.site);
  of.movable.erase({x.urgent, repo});
  resize(x.site, of, false);
  if (of.size == 0)
    sites_.erase(x.site);
}

size_t question_places::of_site(const std::string& site) const {
  const auto i = sites_.find(site);
  return i == sites_.end() ? 0 : i->second.size;
}

/// A waiting question of the site that has the most places.
std::optional<atproto::did>
question_places::displaced_by(const std::string& site, bool urgent) const {
  const auto own = of_site(site);
  for (auto i = by_size_.rbegin(); i != by_size_.rend(); ++i) {
    const auto& [size, owner] = *i;
    const auto& movable = sites_.at(owner).movable;
    const auto more = size > own + 1;
    if (!more && !urgent)
      break; // No other site has more.
    if (movable.empty())
      continue;
    const auto may = urgent && (size > own || owner == site);
    if (more || (may && !movable.begin()->first))
      return movable.begin()->second;
  }
  return std::nullopt;
}

void question_places::resize(const std::string& site, holder& x, bool more) {
  by_size_.erase({x.size, site});
  x.size += more ? 1 : size_t(-1);
  if (x.size > 0)
    by_size_.emplace(x.size, site);
}

} // namespace weir::actors
