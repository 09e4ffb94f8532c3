#pragma once

#include "atproto/identifiers.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Who has the places for questions when there are fewer than questions.
///
/// A place is free for all as long as there is one. Without, a newcomer takes
/// one from the site (`site_of`) that has most, if its own will not have more;
/// an urgent one also takes that of a question which is not urgent, of its own
/// site or of one that has more. Questions that are under way keep theirs.
class question_places {
public:
  explicit question_places(size_t most) : most_(most) {
    // nop
  }

  struct answer {
    bool taken = false;
    std::optional<atproto::did> displaced; ///< Lost its place.
  };

  /// @pre it has no place
  answer take(const atproto::did& repo, std::string site, bool urgent);

  /// It is under way, or waits again.
  /// @pre it has a place
  void set_running(const atproto::did& repo, bool running);

  /// @pre it has a place
  void leave(const atproto::did& repo);

  size_t size() const noexcept { return places_.size(); }

  /// How many hosts of this site have.
  size_t of_site(const std::string& site) const;

private:
  struct place {
    std::string site;
    bool urgent = false;
  };

  struct holder {
    size_t size = 0;
    std::set<std::pair<bool, atproto::did>> movable; ///< Urgent ones last.
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
