#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::simnet {

/// Who lives in the network before it starts. Same options, same bytes.
struct population_options {
  uint64_t seed = 1;
  size_t accounts = 500;
  /// Records of all accounts together, dealt out by rank: the account of rank
  /// r gets a share of r^-`size_exponent`, so few are large and most small.
  uint64_t records = 60'000;
  double size_exponent = 1.4;
  size_t hosts = 3;
  /// Of those, the last so many have one account each; the others share the
  /// rest. Less than `hosts`.
  size_t lone_hosts = 0;
  /// Accounts that are deactivated when the network starts, spread evenly.
  size_t deactivated = 0;
  /// Accounts whose key is on p256; the rest are on k256.
  unsigned p256_per_thousand = 30;
  /// When the first account was made; everything initial is dated within the
  /// two years after it, and lies in the past of any honest clock.
  wall_time epoch{1'609'459'200'000'000};
  /// Also makes records that are valid bytes and still unfit for strict
  /// readers: floats and integers beyond 2^53 (protocol-coverage.md 6.1, 6.7).
  bool unsafe_records = false;
  /// Collections of each account that nobody else has, with one record each,
  /// beside `records`; and so many more of the first account.
  size_t own_collections = 0;
  size_t more_collections_of_first = 0;
};

/// How much of a stream a server keeps for clients that come back.
struct window_options {
  size_t frames_max = 100'000;
  size_t bytes_max = size_t{128} << 20;
};

/// What live traffic consists of, per thousand events; the rest are commits
/// that create one record.
struct traffic_mix {
  unsigned updates = 60;
  unsigned removals = 130;
  unsigned batches = 20;   ///< Commits with 2 to `batch_ops_max` operations.
  unsigned identities = 6; ///< #identity without any change.
  unsigned accounts = 2;   ///< #account, active as before.
  unsigned handles = 2;    ///< Handle changes, with their #identity.
  size_t batch_ops_max = 24;
  /// Accounts grow by this many records and no further: from there on they
  /// remove one for each they create, so that a network can live for ever.
  size_t growth_max = 20'000;
};

/// What a hostile host does to whoever follows it.
enum class hostility : uint8_t {
  slow,      ///< Downloads crawl: the repository, then blocks that no one needs.
  inventive, ///< Its listing never ends, of accounts that never were.
  wide,      ///< Its accounts have `wide_collections` collections each.
  endless,   ///< Downloads and the stream never end, as fast as they are taken.
  fictive,   ///< Its stream never ends, of accounts that never were.
  fickle,    ///< The stream alone: all its accounts change, time and again.
  circular,  ///< Its listing names its own accounts over and over.
};

constexpr size_t hostilities = 7;

/// Collections of an account at a wide host, if not said otherwise.
constexpr size_t wide_collections = 1'024;

/// A host beside the honest ones. Its repositories are valid.
struct hostile_host_options {
  hostility kind = hostility::slow;
  size_t accounts = 1;
  /// Of a slow host: how fast each download comes.
  uint64_t bytes_per_second = 20'000;
  /// Of listings that go on for ever: ten times as many as anybody asks for.
  size_t page_lines = 10'000;
  /// Of each account of a wide host, with one record each.
  size_t collections = wide_collections;
};

/// A simulated network as a whole.
struct network_options {
  population_options population;
  window_options window;
  traffic_mix mix;
  /// Numbered after the honest hosts, their accounts after the honest ones.
  std::vector<hostile_host_options> hostile;
  /// Whether a relay joins the streams of all hosts.
  bool relay = true;
  /// DID documents as older directories wrote them: relative key id, bare
  /// point, `EcdsaSecp256k1VerificationKey2019`.
  bool legacy_documents = false;
  /// Whether hosts send repositories compressed to clients that ask.
  bool gzip = true;
  /// Lines of a listing page that honest hosts and the relay give at most,
  /// whatever a client asks for.
  size_t listing_lines_max = 1'000;
  /// First of the ports on 127.0.0.1: hosts, relay, directory, control; 0 takes
  /// free ones.
  uint16_t port = 0;
  /// Hosts, relay and directory are called `host0`, `relay`, `plc` and so on in
  /// this domain, on any transport that can look such names up; empty: they are
  /// known by their addresses.
  std::string domain;
  /// Dates revisions and frames. Outlives the network.
  const clock* time = &system_clock();
};

} // namespace weir::simnet
