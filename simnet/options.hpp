#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::simnet {

/// The accounts that exist before the network starts. Equal options give equal
/// bytes.
struct population_options {
  uint64_t seed = 1;
  size_t accounts = 500;
  /// Records of all accounts together. The account of rank r gets a share of
  /// r^-`size_exponent`, so few accounts are large and most are small.
  uint64_t records = 60'000;
  double size_exponent = 1.4;
  size_t hosts = 3;
  /// The last `lone_hosts` hosts have one account each; the others share the
  /// rest. Less than `hosts`.
  size_t lone_hosts = 0;
  /// Accounts that are deactivated when the network starts, spread evenly.
  size_t deactivated = 0;
  /// How many of 1,000 accounts have a p256 key; the rest have a k256 key.
  unsigned p256_per_thousand = 30;
  /// The time of the first account. Everything initial is dated within two
  /// years after that, so it is in the past of any correct clock.
  wall_time epoch{1'609'459'200'000'000};
  /// It also makes records with valid bytes that strict readers refuse:
  /// floats and integers beyond 2^53 (protocol-coverage.md 6.1, 6.7).
  bool unsafe_records = false;
  /// Collections that only one account uses, with one record each, in addition
  /// to `records`. Each account has `own_collections` of them, and the first
  /// account `more_collections_of_first` more.
  size_t own_collections = 0;
  size_t more_collections_of_first = 0;
};

/// How much of its stream a server keeps for clients that reconnect.
struct window_options {
  size_t frames_max = 100'000;
  size_t bytes_max = size_t{128} << 20;
};

/// What live traffic consists of, per thousand events. The rest are commits
/// that create one record.
struct traffic_mix {
  unsigned updates = 60;
  unsigned removals = 130;
  unsigned batches = 20;   ///< Commits with 2 to `batch_ops_max` operations.
  unsigned identities = 6; ///< An #identity without any change.
  unsigned accounts = 2;   ///< An #account that is active as before.
  unsigned handles = 2;    ///< Handle changes with their #identity.
  size_t batch_ops_max = 24;
  /// Accounts grow by at most this many records. From there on they remove one
  /// for each that they create, so that a network can run for ever.
  size_t growth_max = 20'000;
};

/// What a hostile host does to an engine that follows it.
enum class hostility : uint8_t {
  slow,      ///< Downloads are slow: the repository, then unneeded blocks.
  inventive, ///< Its endless listing has accounts that never existed.
  wide,      ///< Its accounts have `wide_collections` collections each.
  endless,   ///< Downloads and the stream never end, at full speed.
  fictive,   ///< Its endless stream has accounts that never existed.
  fickle,    ///< Its endless stream says that its own accounts change.
  circular,  ///< Its endless listing repeats its own accounts.
};

constexpr size_t hostilities = 7;

/// Collections of an account at a wide host, unless set otherwise.
constexpr size_t wide_collections = 1'024;

/// A hostile host in addition to the honest ones. Its repositories are valid.
struct hostile_host_options {
  hostility kind = hostility::slow;
  size_t accounts = 1;
  /// Bytes per second of each download (`slow`).
  uint64_t bytes_per_second = 20'000;
  /// Lines of a page of an endless listing: ten times as many as anybody asks
  /// for.
  size_t page_lines = 10'000;
  /// Collections of each account, with one record each (`wide`).
  size_t collections = wide_collections;
};

/// Options of a whole network.
struct network_options {
  population_options population;
  window_options window;
  traffic_mix mix;
  /// Numbered after the honest hosts, and their accounts after the honest
  /// accounts.
  std::vector<hostile_host_options> hostile;
  /// Whether there is a relay, which joins the streams of all hosts.
  bool relay = true;
  /// DID documents as older directories wrote them: relative key id, bare
  /// point, `EcdsaSecp256k1VerificationKey2019`.
  bool legacy_documents = false;
  /// Whether hosts compress repositories for clients that accept it.
  bool gzip = true;
  /// The most lines of a listing page that honest hosts and the relay return,
  /// whatever a client asks for.
  size_t listing_lines_max = 1'000;
  /// The first port on 127.0.0.1, for hosts, relay, directory and control in
  /// that order. With 0, free ports are used.
  uint16_t port = 0;
  /// Domain in which hosts, relay and directory are named `host0`, `relay`,
  /// `plc` and so on, for a transport that can look such names up. Empty to use
  /// addresses.
  std::string domain;
  /// Gives the dates of revs and frames. Outlives the network.
  const clock* time = &system_clock();
};

} // namespace weir::simnet
