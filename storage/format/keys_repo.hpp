#pragma once

#include "storage/format/key_codec.hpp"
#include "storage/format/records.hpp"

/// Keys of what is known about repos and identities.
namespace weir::storage {

/// Number of the dataset that always exists; 0 is the node itself.
constexpr uint16_t default_dataset = 1;

/// The state of a repo; value: `repo_row`.
struct repo_key {
  static constexpr auto in = table::repo;
  atproto::did repo;

  static auto parts(auto& x) { return std::tie(x.repo); }
};

/// Due time of repos that are not fetched because their account is not active.
constexpr uint64_t never_due = UINT64_MAX;

/// Repos by workflow state in the order of their next attempt; the value is
/// empty.
struct repo_by_status_key {
  static constexpr auto in = table::repo_by_status;
  repo_status status = repo_status::pending;
  uint64_t due = 0; ///< Unix seconds; 0 for at once, or `never_due`.
  atproto::did repo;

  static auto parts(auto& x) { return std::tie(x.status, x.due, x.repo); }
};

/// A repo in a dataset; value: `member_row`.
struct member_key {
  static constexpr auto in = table::member;
  uint16_t dataset = 0;
  atproto::did repo;

  static auto parts(auto& x) { return std::tie(x.dataset, x.repo); }
};

/// A #commit or #sync that waits for its repo; value: `waiting_row`. Frames are
/// numbered in the order of arrival, because a #commit and a #sync of the same
/// rev may both wait.
struct sync_buffer_key {
  static constexpr auto in = table::sync_buffer;
  atproto::did repo;
  uint64_t number = 0;

  static auto parts(auto& x) { return std::tie(x.repo, x.number); }
};

/// A cached identity; value: `identity_row`.
struct identity_key {
  static constexpr auto in = table::identity;
  atproto::did repo;

  static auto parts(auto& x) { return std::tie(x.repo); }
};

/// What the directory's export says of a DID of which nothing else is known;
/// value: `identity_row`.
struct exported_key {
  static constexpr auto in = table::exported;
  atproto::did repo;

  static auto parts(auto& x) { return std::tie(x.repo); }
};

/// What SWEEPER still has to erase of a repo; value: `erasure_row`.
struct erasure_key {
  static constexpr auto in = table::erasure;
  atproto::did repo;

  static auto parts(auto& x) { return std::tie(x.repo); }
};

/// The name of a collection, by its id; value: `collection_row`.
struct collection_name_key {
  static constexpr auto in = table::collection_name;
  uint32_t id = 0;

  static auto parts(auto& x) { return std::tie(x.id); }
};

/// The id of a collection, by its name; value: `counter`.
struct collection_id_key {
  static constexpr auto in = table::collection_id;
  std::string name;

  static auto parts(auto& x) { return std::tie(x.name); }
};

} // namespace weir::storage
