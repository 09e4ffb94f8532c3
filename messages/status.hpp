#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace weir {

/// Asks an actor what it is and how it is. Every actor answers `actor_status`.
/// From: anyone. To: any actor. Travels: between nodes.
struct get_status {};

/// One property of an actor, for people: its name and its value.
struct status_field {
  std::string name;
  std::string value;

  status_field() = default;
  status_field(std::string what, std::string is)
    : name(std::move(what)), value(std::move(is)) {}
  status_field(std::string what, std::integral auto number)
    : status_field(std::move(what), std::to_string(number)) {}

  bool operator==(const status_field&) const = default;
};

/// What an actor says of itself. Travels: between nodes.
struct actor_status {
  /// Which one it is of its kind: a DID, an origin, the number of a partition,
  /// or that and its own number there, such as `0.1`.
  std::string name;
  std::string kind;   ///< As in the first table of docs/actors.md.
  std::string parent; ///< The kind that started it; empty for NODE.
  std::vector<status_field> state;

  bool operator==(const actor_status&) const = default;
};

} // namespace weir
