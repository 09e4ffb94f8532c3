#pragma once

#include "base/clock.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

/// What may be wrong with a node (docs/architecture.md, Health).
namespace weir::actors {

/// Why a running node does not do its work.
enum class health_cause : uint8_t {
  /// Most identities cannot be looked up there, or it has never answered.
  directory,
  resolver, ///< It does not answer questions for the owner of a handle.
  clock,    ///< Many signers' revs are later, or the directory's clock differs.
  /// An upstream is not connected, stalls, does not give a listing that it
  /// owes, is not named by its accounts' documents, or most of its commits are
  /// refused.
  upstream,
  fetch,   ///< Most repos cannot be fetched, from most hosts.
  commits, ///< Most are refused, of most upstreams, even if few of each.
  write,   ///< A write to the store does not return.
};

/// All causes, in the order in which they are shown.
inline constexpr std::array health_causes{
  health_cause::directory, health_cause::resolver, health_cause::clock,
  health_cause::upstream,  health_cause::fetch,    health_cause::commits,
  health_cause::write};

const char* to_string(health_cause x) noexcept;

/// What the operator can do about it, in a sentence.
const char* remedy_of(health_cause x) noexcept;

/// What a cause means for the node.
enum class health_level : uint8_t {
  failing,  ///< The node does not do its work.
  degraded, ///< The node does all of its work except for a part.
  unproved, ///< Nothing has failed for minutes, but nothing succeeded either.
  last_ = unproved
};

const char* to_string(health_level x) noexcept;

struct health_finding {
  health_cause cause = health_cause::directory;
  std::string where; ///< A URL or a store; empty for `clock`.
  std::string error; ///< Text of the last failure; comes from outside.
  wall_time since;
  health_level level = health_level::failing;
  std::string own_remedy; ///< Empty: the remedy of the cause.

  std::string_view remedy() const noexcept {
    return own_remedy.empty() ? remedy_of(cause) : std::string_view{own_remedy};
  }

  bool is_same(const health_finding& x) const noexcept {
    return cause == x.cause && (cause != health_cause::upstream
                                || where == x.where);
  }
};

/// Why a cause has ended, for the log. One that nothing tested any more is not
/// reported as working again.
const char* reason_of_end(const health_finding& x) noexcept;

} // namespace weir::actors
