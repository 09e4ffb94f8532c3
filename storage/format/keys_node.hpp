#pragma once

#include "storage/format/key_codec.hpp"
#include "storage/format/records.hpp"

/// Keys of what belongs to the node: its upstreams, consumers, evidence and
/// settings.
namespace weir::storage {

/// Facts about the store itself. `database.hpp` uses some names of its own.
struct meta_key {
  static constexpr auto in = table::meta;
  std::string name;

  static auto parts(auto& x) { return std::tie(x.name); }
};

/// Name of the meta row that contains the `export_row`.
constexpr const char* directory_export_row = "directory_export";

/// A setting that the store keeps, such as `filter`; value: `stored_bytes`.
struct configuration_key {
  static constexpr auto in = table::configuration;
  uint16_t dataset = 0;
  std::string name;

  static auto parts(auto& x) { return std::tie(x.dataset, x.name); }
};

/// One upstream; value: `upstream_row`.
struct upstream_key {
  static constexpr auto in = table::upstream;
  uint32_t id = 0;

  static auto parts(auto& x) { return std::tie(x.id); }
};

/// Progress of a listing at an upstream; value: `listing_row`.
struct listing_key {
  static constexpr auto in = table::listing;
  uint32_t upstream = 0;
  uint32_t collection = 0; ///< 0 for the listing of all repos.

  static auto parts(auto& x) { return std::tie(x.upstream, x.collection); }
};

/// One consumer; value: `consumer_row`.
struct consumer_key {
  static constexpr auto in = table::consumer;
  uint16_t dataset = 0;
  std::string name;

  static auto parts(auto& x) { return std::tie(x.dataset, x.name); }
};

/// A range of acked operations above a consumer's position; value: `counter`,
/// the last id of the range.
struct acked_key {
  static constexpr auto in = table::acked;
  uint16_t dataset = 0;
  std::string name;
  uint16_t partition = 0;
  op_id first = 0;

  static auto parts(auto& x) {
    return std::tie(x.dataset, x.name, x.partition, x.first);
  }
};

/// One dead letter; value: `dead_letter_row`.
struct dead_letter_key {
  static constexpr auto in = table::dead_letter;
  uint16_t dataset = 0;
  std::string name;
  uint16_t partition = 0;
  op_id id = 0;

  static auto parts(auto& x) {
    return std::tie(x.dataset, x.name, x.partition, x.id);
  }
};

} // namespace weir::storage
