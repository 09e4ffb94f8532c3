#pragma once

#include "actors/supervisor/claim_source.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/supervisor/limits_streams.hpp"
#include "actors/supervisor/listing_machine.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// Which of the DIDs that only a listing names, or the stream of a PDS, become
/// repos: anybody can make up any number of names, so each is a claim until a
/// DID document agrees. Of a PDS's claims the document has to name that host,
/// of a relay's listing any host.
///
/// # Operation
/// The claims of one page of each listing are held, and those of each stream
/// that have room. Few are asked about at once, of listings and, beside those,
/// of streams. All listings have turns, most those that had few, and so have all
/// streams. The next page of a listing waits until its claims are decided. A
/// listing whose claims mostly fail is not trusted: the rest of its page is
/// dropped. So is all of a stream, which then rests, each time for longer.
///
/// A document that names another host and was there before the claim is looked
/// up anew: the account may have moved, or the document was wrong. One that is
/// not there, or is gone, is asked for a second time, a while later, since a
/// directory may lag behind or be wrong; one that is not there counts against who
/// claims it meanwhile, and of a stream one that is gone as well.
///
/// Nobody is blamed for a directory that is wrong: before a judgement it is asked
/// for a document that it had (`effects::prove`). When it has not even that, the
/// page is to come again.
///
/// An account that is away may have moved: a document that names another host
/// says nothing against its listing then. A directory that cannot be reached
/// says nothing at all: all claims rest for a while, this one is asked about
/// again a few times, and comes again with the next listing. That of a stream is
/// asked about when its DID may be looked up again: no listing may come for a day,
/// and the page of a listing would hold up others. A did:web that
/// cannot be reached is its listing's fault alone.
///
/// # Threads and ownership
/// Part of the SUPERVISOR; no CAF, clock or I/O.
class claims_machine {
public:
  using claim = listed_claim;

  /// What the document of a claimed DID says.
  struct word {
    enum class kind : uint8_t {
      names_host, ///< `pds`; empty: it names none, or is gone.
      missing,    ///< There is none, or none that can be used.
      away,       ///< Nobody answered.
    };
    kind what = kind::missing;
    std::string pds;
    int64_t fetched_at = 0; ///< Unix seconds.
    /// Of `away`: asked sooner, nobody looks it up.
    steady_time not_before{};
  };

  /// A page of this listing is decided, or its claims were dropped.
  struct verdict {
    listing_id what;
    bool trusted = true;
    bool proved = true;   ///< Else the directory was wrong: it is to come again.
    bool has_room = true; ///< Else it is to come again.
  };

  enum class outcome : uint8_t {
    confirmed,
    failed,
    dropped, ///< Nobody could tell, or there was no room.
  };

  /// What became of one claim of a stream.
  struct answer {
    uint32_t stream = 0;
    atproto::did repo;
    outcome what = outcome::dropped;
    bool anew = false; ///< By a document that was looked up after the claim.
  };

  /// All claims of a stream were dropped, and others will be until then.
  struct stream_rest {
    uint32_t stream = 0;
    steady_time until{};
    bool proved = true; ///< Else nobody knows whether the directory is right.
  };

  struct effects {
    std::vector<atproto::did> ask;
    std::vector<atproto::did> ask_anew; ///< What is known is not enough.
    /// To be tracked; each belongs to a page that is not decided before.
    std::vector<std::pair<listing_id, atproto::did>> confirmed;
    std::vector<verdict> pages;
    bool prove = false; ///< Answer with `on_proof`.
    /// Claims of listings without room or an answer; the next listing has them.
    size_t dropped = 0;
    std::vector<answer> answers; ///< In front of `rests`.
    std::vector<stream_rest> rests;
    std::optional<steady_time> timer;
  };

  /// @param bytes_max What the claims of all listings may hold; those of
  ///        streams have `limits::stream_claims_part` of as much beside it.
  explicit claims_machine(size_t bytes_max = limits::claims_bytes_max)
    : bytes_max_(bytes_max),
      stream_bytes_max_(bytes_max / limits::stream_claims_part) {
    // nop
  }

  /// What one claim of a listing holds, and one of a stream.
  static size_t cost_of(const claim& x) noexcept;
  static size_t stream_cost_of(const atproto::did& x) noexcept;

  /// Claims of a page. `limits::claims_of_page_max` are taken for certain, more
  /// as long as there is room (`limits::claims_spare_max`). Answered by one
  /// verdict.
  /// @param host The origin of a PDS; empty: a relay's.
  effects on_page(const listing_id& what, std::string host,
                  std::vector<claim> claims, steady_time now, wall_time wall);

  /// A stream names a DID as an active account of its host. At most
  /// `limits::stream_claims_max` of one stream are held, and of the room that
  /// others leave a stream may fill half. Answered by one answer, or by the
  /// rest of its stream.
  /// @param host The origin of the PDS.
  /// @param anew What is known of its document is not enough.
  effects on_named(uint32_t stream, const std::string& host,
                   const atproto::did& repo, steady_time now, wall_time wall,
                   bool anew = false);

  effects on_word(const atproto::did& repo, const word& x, steady_time now);

  /// Whose turn the look-up of a DID takes that is asked about: the origin of the
  /// PDS whose stream named it. Empty: a listing did, so it takes that of all
  /// listings.
  const std::string& turn_of(const atproto::did& repo) const;

  /// Whether the directory has a document that it had, or must have.
  effects on_proof(bool has, steady_time now);

  effects on_timer(steady_time now);

  /// Claims held, of all listings and streams.
  size_t size() const noexcept;

  /// Memory that they hold, about.
  size_t bytes() const noexcept { return bytes_ + stream_bytes_; }

private:
  using source = claim_source;

  struct listing : source {
    bool open = false; ///< A page of it is not decided.
    size_t spare = 0;  ///< Claims of it that take spare room.
    size_t turns = 0;  ///< That it had, of all its pages.
  };

  struct stream_source : source {
    bool has_turn = false;        ///< It is in `stream_turns_`.
    std::chrono::seconds rest{0}; ///< The last one.
    std::optional<steady_time> rests_until;
  };

  using listings = std::map<listing_id, listing>;
  using streams = std::unordered_map<uint32_t, stream_source>;

  size_t take_places(listing& x, std::vector<claim>& claims);
  void take_word(listings::value_type& of, waiting_claim x, const word& said,
                 steady_time now, effects& out);
  void judge(listings::value_type& of, effects& out);
  void close(listings::value_type& of, verdict x, effects& out);
  void want_proof(source& from, effects& out);
  /// How a claim that a document does not confirm is asked about again.
  enum class second_look : uint8_t { none, anew, later };
  static second_look next_look(waiting_claim& x, const word& said,
                               bool agrees);
  static bool is_looked_up(const word& said, const waiting_claim& x) noexcept;
  void look_later(source& from, waiting_claim x, bool fails, steady_time now);
  void put_later(source& from, waiting_claim x, steady_time at);
  void wake(steady_time now);
  listing* next_listing();
  atproto::did ask_next(source& from, const std::string& host, effects& out);
  void run(effects& out, steady_time now);

  void release(listing& from, size_t bytes) noexcept;

  // claims_machine_streams.cpp
  bool has_room(const stream_source& from, size_t bytes) const noexcept;
  void wait(streams::value_type& of, waiting_claim x, bool first);
  void take_word(streams::value_type& of, waiting_claim x, const word& said,
                 steady_time now, effects& out);
  void take_words(const atproto::did& repo, const word& said, steady_time now,
                  effects& out);
  void judge(streams::value_type& of, effects& out);
  void let_rest(streams::value_type& of, bool proved, steady_time now,
                effects& out);
  streams::value_type* next_stream();

  size_t bytes_max_;
  size_t stream_bytes_max_;
  size_t bytes_ = 0;        ///< Of listings.
  size_t stream_bytes_ = 0; ///< Of streams.
  listings listings_;
  listing_id last_; ///< Had its turn.
  size_t turns_ = 0;
  streams streams_;
  std::deque<uint32_t> stream_turns_; ///< Streams of which claims wait.
  /// Streams whose claims were asked about.
  std::unordered_map<atproto::did, std::vector<uint32_t>> askers_;
  size_t spare_ = 0; ///< In use.
  struct question {
    std::string host; ///< Of the stream that had it asked; empty: a listing.
    bool anew = false;
  };

  std::unordered_map<atproto::did, question> asked_;
  claims_asked listings_asked_;
  claims_asked streams_asked_;
  std::optional<steady_time> rest_until_; ///< The directory is away.
  std::optional<steady_time> wake_at_;    ///< For the next of all `later`.
  bool proving_ = false;
};

} // namespace weir::actors
