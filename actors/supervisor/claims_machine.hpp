#pragma once

#include "actors/supervisor/listing_machine.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "base/limits_claims.hpp"
#include "base/limits_streams.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weir::actors {

/// Which of the DIDs that only a listing names become repos: anybody can list
/// any number of names, so each is a claim until a DID document agrees. Of a
/// PDS's claims the document has to name that host, of a relay's any host.
///
/// # Operation
/// The claims of one page of each listing are held, those of all listings are
/// asked about in turn, few at once, and most turns go to those that had few.
/// The next page of a listing waits until its
/// claims are decided. A listing whose claims mostly fail is not trusted: the
/// rest of its page is dropped.
///
/// An account that is away may have moved: a document that names another host
/// says nothing against its listing then. A directory that cannot be reached
/// says nothing at all: all claims rest for a while, this one is asked about
/// again a few times, and comes again with the next listing. A did:web that
/// cannot be reached is its listing's fault alone.
///
/// # Threads and ownership
/// Part of the SUPERVISOR; no CAF, clock or I/O.
class claims_machine {
public:
  struct claim {
    atproto::did repo;
    bool active = true; ///< As its listing says.
  };

  /// What the document of a claimed DID says.
  struct word {
    enum class kind : uint8_t {
      names_host, ///< `pds`; empty: it names none, or is gone.
      missing,    ///< There is none, or none that can be used.
      away,       ///< Nobody answered.
    };
    kind what = kind::missing;
    std::string pds;
  };

  /// A page of this listing is decided, or its claims were dropped.
  struct verdict {
    listing_id what;
    bool trusted = true;
    bool has_room = true; ///< Else it is to come again.
  };

  struct effects {
    std::vector<atproto::did> ask;
    /// To be tracked; each belongs to a page that is not decided before.
    std::vector<std::pair<listing_id, atproto::did>> confirmed;
    std::vector<verdict> pages;
    size_t dropped = 0; ///< Claims without room; the next listing has them.
    std::optional<steady_time> timer;
  };

  /// @param bytes_max What the claims of all listings may hold.
  explicit claims_machine(size_t bytes_max = limits::claims_bytes_max)
    : bytes_max_(bytes_max) {
    // nop
  }

  /// What one claim holds.
  static size_t cost_of(const claim& x) noexcept;

  /// Claims of a page. `limits::claims_of_page_max` are taken for certain, more
  /// as long as there is room (`limits::claims_spare_max`). Answered by one
  /// verdict.
  /// @param host The origin of a PDS; empty: a relay's.
  effects on_page(const listing_id& what, std::string host,
                  std::vector<claim> claims, steady_time now);

  effects on_word(const atproto::did& repo, const word& x, steady_time now);

  effects on_timer(steady_time now);

  /// Claims held, of all listings.
  size_t size() const noexcept;

  /// Memory that they hold, about.
  size_t bytes() const noexcept { return bytes_; }

private:
  struct waiting_claim {
    claim of;
    size_t tries = 0;
  };

  struct listing {
    std::string host;
    std::deque<waiting_claim> waiting;
    std::unordered_map<atproto::did, waiting_claim> asked;
    bool open = false; ///< A page of it is not decided.
    size_t spare = 0;  ///< Claims of it that take spare room.
    size_t decided = 0;
    size_t failed = 0;
    size_t bytes = 0; ///< Of its claims.
    size_t turns = 0; ///< That it had, of all its pages.

    bool waits() const noexcept {
      return !waiting.empty() && asked.size() < limits::claims_asked_share;
    }
  };

  using listings = std::map<listing_id, listing>;

  size_t take_places(listing& x, std::vector<claim>& claims);
  void take_word(listings::value_type& of, waiting_claim x, const word& said,
                 effects& out);
  void judge(listings::value_type& of, effects& out);
  listing* next_listing();
  void run(effects& out, steady_time now);

  void release(listing& from, size_t bytes) noexcept;

  size_t bytes_max_;
  size_t bytes_ = 0;
  listings listings_;
  listing_id last_; ///< Had its turn.
  size_t turns_ = 0;
  size_t spare_ = 0; ///< In use.
  std::unordered_set<atproto::did> asked_;   ///< About, by any listing.
  std::optional<steady_time> rest_until_; ///< The directory is away.
};

} // namespace weir::actors
