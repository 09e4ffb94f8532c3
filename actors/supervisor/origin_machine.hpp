#pragma once

#include "actors/supervisor/claims_machine.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// Finds `pds:` upstreams that are configured with an origin that no document
/// names, for example with an address. All statements of such a host about its
/// accounts are refused, since their documents name it by another origin.
///
/// The documents of a few active accounts of each listing of all repos are
/// looked up, one after the other, until one of them names the origin. At a
/// correct host that is the first one, in every mode. When
/// `limits::origin_accounts_max` accounts, or all accounts of a small host,
/// were looked at, none of their documents names the origin and most name
/// another host, the upstream is reported. The report ends as soon as one
/// document agrees.
///
/// A document that was stored before the page came and names another host is
/// fetched anew first: the account may have moved here. When a document cannot
/// be had, its content is not known, and nothing is concluded from it.
///
/// # Threads and ownership
/// Part of the SUPERVISOR; no CAF, clock or I/O.
///
/// # Limits
/// One document of each upstream is asked for at a time, and
/// `limits::origin_asked_max` of all.
class origin_machine {
public:
  using word = claims_machine::word;

  struct question {
    atproto::did repo;
    bool anew = false; ///< The stored document does not suffice.
  };

  /// A finding about an upstream's origin.
  struct finding {
    uint32_t upstream = 0;
    std::string origin;    ///< The origin as it is configured.
    std::string account{}; ///< An example account; empty: the problem is over.
    std::string host{}; ///< The host that the document of that account names.
    /// Other documents name yet another host, as at a relay.
    bool several = false;
  };

  struct effects {
    std::vector<question> ask;
    std::vector<finding> found; ///< The same finding may come again.
    std::optional<steady_time> timer;
  };

  /// A listing of all repos of a PDS begins.
  void on_begin(uint32_t upstream);

  /// Whether `on_page` would look at a page of this upstream.
  bool wants(uint32_t upstream) const;

  /// A page of that listing came.
  /// @param active The accounts that it lists as active.
  effects on_page(uint32_t upstream, const std::string& origin,
                  std::vector<atproto::did> active, steady_time now,
                  wall_time wall);

  /// The document of an account that the upstream lists names its origin, as
  /// another part of the node found out.
  effects on_confirmed(uint32_t upstream);

  effects on_word(const atproto::did& repo, const word& x, steady_time now);

  effects on_timer(steady_time now);

private:
  struct candidate {
    atproto::did repo;
    size_t asked_anew = 0;
    size_t tries = 0; ///< Look-ups that brought no answer.
  };

  /// The look at one upstream, in the listing under way.
  struct look {
    std::string origin;
    /// Accounts whose documents are still to be looked up.
    std::deque<candidate> left;
    std::optional<candidate> asked;
    int64_t since = 0;       ///< When the page came, in Unix seconds.
    bool begins = true;      ///< No page of the listing was looked at yet.
    bool agrees = false;     ///< A document names the origin.
    size_t elsewhere = 0;    ///< Documents that name another host.
    size_t without = 0;      ///< Accounts without a document, or a host in it.
    size_t undecided = 0;    ///< Accounts that could not be decided.
    atproto::did example;    ///< One of `elsewhere`.
    std::string example_host;
    bool several = false;    ///< `elsewhere` are of more than one host.
  };

  using looks = std::map<uint32_t, look>;

  void take_word(looks::value_type& of, candidate x, const word& said,
                 steady_time now, effects& out);
  static void judge(looks::value_type& of, effects& out);
  static void agree(looks::value_type& of, effects& out);
  void run(effects& out, steady_time now);

  looks looks_; ///< By upstream.
  std::deque<uint32_t> turns_; ///< Upstreams with accounts that are left.
  std::unordered_multimap<atproto::did, uint32_t> askers_;
  std::optional<steady_time> rest_until_; ///< The directory is away.
};

} // namespace weir::actors
