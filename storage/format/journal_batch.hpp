#pragma once

#include "storage/format/keys_repo.hpp"
#include "storage/format/update.hpp"
#include "storage/format/values.hpp"

/// Everything that one group commit writes, as plain values.
namespace weir::storage {

/// What acks changed in a consumer. Rows are removed before rows are written.
struct consumer_change {
  std::string name;
  uint16_t dataset = default_dataset;
  std::optional<consumer_row> row;
  std::vector<op_id> acked_gone; ///< First ids of the ranges to remove.
  std::vector<acked_range> acked;
  std::vector<op_id> dead_letters_gone;
  std::vector<std::pair<op_id, dead_letter_row>> dead_letters;
};

/// Progress of a listing. An empty collection means the listing of all repos.
struct listing_change {
  uint32_t upstream = 0;
  std::string collection;
  listing_row row;
};

/// A setting that was changed at runtime. No value restores the file's value.
struct configuration_change {
  uint16_t dataset = default_dataset;
  std::string name;
  std::optional<bytes> value;
};

/// One group: updates of repos in the order in which they take effect, and rows
/// that must not be on disk before these updates are (cursors, acks).
struct journal_batch {
  std::vector<repo_update> updates;
  std::vector<upstream_row> upstreams;
  std::vector<listing_change> listings;
  std::vector<std::pair<atproto::did, identity_row>> identities;
  /// They are written in order. A DID without a row is removed.
  std::vector<std::pair<atproto::did, std::optional<identity_row>>> exported;
  std::optional<export_row> export_place;
  std::vector<consumer_change> consumers;
  std::vector<configuration_change> configuration;

  /// Whether nothing is to be written.
  bool empty() const noexcept {
    const auto& [of_repos, streams, lists, names, copied, place, cursors, config]
      = *this;
    return of_repos.empty() && streams.empty() && lists.empty()
           && names.empty() && copied.empty() && !place && cursors.empty()
           && config.empty();
  }

  /// Appends a later batch. The list of all members makes one that is forgotten
  /// here an error of the compiler.
  void append(const journal_batch& later) {
    auto& [of_repos, streams, lists, names, copied, place, cursors, config]
      = *this;
    const auto add = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    add(of_repos, later.updates);
    add(streams, later.upstreams);
    add(lists, later.listings);
    add(names, later.identities);
    add(copied, later.exported);
    if (later.export_place)
      place = later.export_place;
    add(cursors, later.consumers);
    add(config, later.configuration);
  }
};

} // namespace weir::storage
