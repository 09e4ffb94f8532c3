#pragma once

#include "atproto/identifiers.hpp"

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Gives out the places for questions when there are too few for all.
///
/// While a place is free, any question may take it. When none is free, a new
/// question takes a place from the site (`site_of`) that has the most, if its
/// own site will not have more than that one. An urgent question may also take
/// the place of a question that is not urgent, of its own site or of a site
/// that has more. Questions that are under way keep their places.
class question_places {
public:
  explicit question_places(size_t most) : most_(most) {}

  struct answer {
    bool taken = false;
    /// The question that lost its place.
    std::optional<atproto::did> displaced;
  };

  /// @pre `repo` has no place
  answer take(const atproto::did& repo, std::string site, bool urgent) {
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

  /// The question is under way, or waits again.
  /// @pre `repo` has a place
  void set_running(const atproto::did& repo, bool running) {
    const auto& x = places_.at(repo);
    auto& movable = sites_.at(x.site).movable;
    if (running)
      movable.erase({x.urgent, repo});
    else
      movable.emplace(x.urgent, repo);
  }

  /// @pre `repo` has a place
  void leave(const atproto::did& repo) {
    const auto x = std::move(places_.extract(repo).mapped());
    auto& of = sites_.at(x.site);
    of.movable.erase({x.urgent, repo});
    resize(x.site, of, false);
    if (of.size == 0)
      sites_.erase(x.site);
  }

  /// The places of all hosts of this site.
  size_t of_site(const std::string& site) const {
    const auto i = sites_.find(site);
    return i == sites_.end() ? 0 : i->second.size;
  }

private:
  struct place {
    std::string site;
    bool urgent = false;
  };

  struct holder {
    size_t size = 0;
    /// Urgent questions come last.
    std::set<std::pair<bool, atproto::did>> movable;
  };

  /// A waiting question of the site that has the most places.
  std::optional<atproto::did> displaced_by(const std::string& site,
                                           bool urgent) const {
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

  void resize(const std::string& site, holder& x, bool more) {
    by_size_.erase({x.size, site});
    x.size += more ? 1 : size_t(-1);
    if (x.size > 0)
      by_size_.emplace(x.size, site);
  }

  size_t most_;
  std::unordered_map<atproto::did, place> places_;
  std::unordered_map<std::string, holder> sites_;
  std::set<std::pair<size_t, std::string>> by_size_;
};

} // namespace weir::actors
