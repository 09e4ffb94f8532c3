#pragma once

#include "actors/supervisor/claim_source.hpp"
#include "actors/supervisor/listing_machine.hpp"
#include "messages/claims.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::actors {

/// Decides which DIDs become repos when only a listing or the stream of a PDS
/// names them. Anybody can invent any number of names, so each DID is a claim
/// until a DID document agrees: for a claim of a PDS the document has to name
/// that host, for a claim of a relay's listing it has to name any host.
///
/// # Operation
/// The machine keeps the claims of one page of each listing, and the claims of
/// the streams for which there is room. Few documents are requested at once,
/// for listings and separately for streams. Listings take turns, and those that
/// had few turns are preferred; streams take turns, too. The next page of a
/// listing waits until its claims are decided. When most claims of a listing
/// fail, the listing is not trusted and the rest of its page is dropped. When
/// most claims of a stream fail, all of them are dropped and the stream rests,
/// each time for longer.
///
/// A document that names another host and was stored before the claim is looked
/// up anew: the account may have moved, or the document was wrong. A document
/// that is missing or has a tombstone is requested again after a while, since a
/// directory may lag behind or be wrong. Meanwhile a missing document counts
/// against the source of the claim; for a stream, so does a tombstone.
///
/// No source is blamed for a directory that is wrong: before a source is
/// judged, the directory is asked for a document that it had
/// (`effects::prove`). When the directory does not have even that, the page has
/// to be listed again.
///
/// An account that is away may have moved, so a document that names another
/// host does not count against its listing. An unreachable directory proves
/// nothing: all claims rest for a while, the claim is retried a few times, and
/// it comes again with the next listing. The claim of a stream is retried when
/// its DID may be looked up again, because no listing may come for a day; in a
/// listing such a wait would hold up the other claims of the page. An
/// unreachable did:web host counts against the listing that claimed it.
///
/// # Threads and ownership
/// Part of the SUPERVISOR; no CAF, clock or I/O.
class claims_machine {
public:
  using claim = listed_claim;
  using word = claim_word;
  using outcome = stream_claim_decided::outcome;
  using verdict = page_verdict;

  /// All claims of a stream were dropped, and new ones will be until `until`.
  struct stream_rest {
    uint32_t stream = 0;
    steady_time until{};
    /// False: it is not known whether the directory is right.
    bool proved = true;
  };

  struct effects {
    std::vector<atproto::did> ask;
    /// The stored document does not suffice.
    std::vector<atproto::did> ask_anew;
    /// Repos to be tracked. Each belongs to a page that is decided later.
    std::vector<std::pair<listing_id, atproto::did>> confirmed;
    std::vector<verdict> pages;
    bool prove = false; ///< Answer with `on_proving`.
    /// Claims of listings that had no room or no answer. They come again with
    /// the next listing.
    size_t dropped = 0;
    std::vector<stream_claim_decided> answers; ///< Handle these before `rests`.
    std::vector<stream_rest> rests;
    std::optional<steady_time> timer;
  };

  /// @param bytes_max The memory for the claims of all listings. The claims of
  ///        streams have one `limits::stream_claims_part`-th of it in addition.
  explicit claims_machine(size_t bytes_max = limits::claims_bytes_max)
    : bytes_max_(bytes_max),
      stream_bytes_max_(bytes_max / limits::stream_claims_part) {}

  /// The memory of one claim of a listing, and of one claim of a stream.
  static size_t cost_of(const claim& x) noexcept {
    // An account that is away also needs its listing line.
    const size_t lines = x.active ? 1 : 2;
    return lines * (limits::claim_entry_bytes + 2 * x.repo.str().size())
           + x.repo.str().size();
  }

  static size_t stream_cost_of(const atproto::did& x) noexcept {
    return limits::stream_claim_bytes + 4 * x.str().size();
  }

  /// Takes the claims of a page. `limits::claims_of_page_max` of them certainly
  /// find a place, and more while there is room (`limits::claims_spare_max`).
  /// The page is answered by one verdict.
  /// @param host The origin of a PDS; empty for a relay.
  effects on_page(const listing_id& what, std::string host,
                  std::vector<claim> claims, steady_time now, wall_time wall);

  /// Takes the claim of a stream that a DID is an active account of its host.
  /// At most `limits::stream_claims_max` claims of one stream are kept, and a
  /// stream may fill half of the room that other streams leave. The claim is
  /// answered by one `answer`, or by the rest of its stream.
  /// @param host The origin of the PDS.
  /// @param anew The stored document does not suffice.
  effects on_named(uint32_t stream, const std::string& host,
                   const atproto::did& repo, steady_time now, wall_time wall,
                   bool anew = false);

  effects on_word(const atproto::did& repo, const word& x, steady_time now);

  /// The origin in whose name a DID that is being looked up takes its turn: the
  /// PDS whose stream named it. Empty: a listing named it, so it takes the
  /// common turn of all listings.
  const std::string& turn_of(const atproto::did& repo) const;

  /// IDENTITY was asked for the document of an account that the directory had,
  /// by the question of this number. Without such an account nothing is proved.
  effects on_proving(const std::optional<atproto::did>& known, uint64_t number,
                     steady_time now);

  /// Takes each answer of IDENTITY, before `on_word`: it may be the proof.
  effects on_answer(const identity_answer& x, steady_time now);

  /// Takes the answer to `effects::prove`.
  /// @param has Whether the directory has the document that it had before.
  effects on_proof(bool has, steady_time now);

  effects on_timer(steady_time now) { return run({}, now); }

  /// The approximate memory of the undecided claims, of all listings and
  /// streams, in bytes.
  size_t bytes() const noexcept { return bytes_ + stream_bytes_; }

private:
  using source = claim_source;

  struct listing : source {
    bool open = false; ///< A page of it is not decided.
    size_t spare = 0;  ///< Its claims that use spare room.
    size_t turns = 0;  ///< Turns that it had, over all its pages.
  };

  struct stream_source : source {
    bool has_turn = false;        ///< It is in `stream_turns_`.
    std::chrono::seconds rest{0}; ///< The length of the last rest.
    std::optional<steady_time> rests_until;
  };

  using listings = std::map<listing_id, listing>;
  using streams = std::unordered_map<uint32_t, stream_source>;

  size_t take_places(listing& x, std::vector<claim>& claims);
  void take_word(listings::value_type& of, waiting_claim x, const word& said,
                 steady_time now, effects& out);
  void judge(listings::value_type& of, effects& out);
  void close(listings::value_type& of, verdict x, effects& out);

  void want_proof(source& from, effects& out) {
    from.in_proof = true;
    out.prove |= !std::exchange(proving_, true);
  }

  void look_later(source& from, waiting_claim x, bool fails, steady_time now) {
    x.has_failed = fails;
    from.decide(fails);
    put_later(from, std::move(x), now + limits::claim_retry);
  }

  void put_later(source& from, waiting_claim x, steady_time at) {
    from.put_later(std::move(x), at);
    wake_at_ = std::min(wake_at_.value_or(at), at);
  }

  void wake(steady_time now);
  listing* next_listing();
  atproto::did ask_next(source& from, const std::string& host, effects& out);
  effects run(effects out, steady_time now);

  void release(listing& from, size_t bytes) noexcept {
    from.bytes -= bytes;
    bytes_ -= bytes;
  }

  bool has_room(const stream_source& from, size_t bytes) const noexcept;
  void wait(streams::value_type& of, waiting_claim x, bool first);
  void take_word(streams::value_type& of, waiting_claim x, const word& said,
                 steady_time now, effects& out);
  void judge(streams::value_type& of, effects& out);
  void let_rest(streams::value_type& of, bool proved, steady_time now,
                effects& out);
  streams::value_type* next_stream();

  size_t bytes_max_;
  size_t stream_bytes_max_;
  size_t bytes_ = 0;        ///< Memory of the claims of listings.
  size_t stream_bytes_ = 0; ///< Memory of the claims of streams.
  listings listings_;
  listing_id last_; ///< The listing that had the last turn in order.
  size_t turns_ = 0;
  streams streams_;
  std::deque<uint32_t> stream_turns_; ///< Streams with waiting claims.
  /// The streams whose claim of a DID is being looked up.
  std::unordered_map<atproto::did, std::vector<uint32_t>> askers_;
  size_t spare_ = 0; ///< In use.
  struct question {
    /// The PDS whose stream named the DID; empty: a listing did.
    std::string host;
    bool anew = false;
  };

  std::unordered_map<atproto::did, question> asked_;
  claims_asked listings_asked_;
  claims_asked streams_asked_;
  std::optional<steady_time> rest_until_; ///< The directory is away.
  /// When the next of all `later` claims is due.
  std::optional<steady_time> wake_at_;
  bool proving_ = false;
  /// The account by which the directory is tried, and that question's number.
  std::optional<std::pair<atproto::did, uint64_t>> proof_;
};

} // namespace weir::actors
