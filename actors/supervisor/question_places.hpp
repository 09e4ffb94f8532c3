#pragma once

#include "atproto/identifiers.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Gives out the places for questions when there are more questions than
/// places.
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
  answer take(const atproto::did& repo, std::string site, bool urgent);

  /// The question is under way, or waits again.
  /// @pre `repo` has a place
  void set_running(const atproto::did& repo, bool running);

  /// @pre `repo` has a place
  void leave(const atproto::did& repo);

  size_t size() const noexcept { return places_.size(); }

  /// The places of all hosts of this site.
  size_t of_site(const std::string& site) const;

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

  std::optional<atproto::did> displaced_by(const std::string& site,
                                           bool urgent) const;
  void resize(const std::string& site, holder& x, bool more);

  size_t most_;
  std::unordered_map<atproto::did, place> places_;
  std::unordered_map<std::string, holder> sites_;
  std::set<std::pair<size_t, std::string>> by_size_;
};

} // namespace weir::actors
