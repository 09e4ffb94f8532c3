#pragma once

#include "storage/format/records.hpp"

#include <cstdint>

namespace weir::actors {

/// Knows whether a consumer uses the log, so that what it has not acked must
/// not be trimmed (docs/adr/0035). Without CAF; one thread.
///
/// A consumer that was never sent an event uses nothing: it can begin with any
/// state. When its first client connects, trimming may already be under way.
/// So the JOURNAL is asked for an answer, which comes after that trimming, and
/// the log is not read before.
class log_use {
public:
  /// @param has_acks It has acked an event.
  /// @param current_before As in its row.
  log_use(bool has_acks, storage::op_id current_before) noexcept
    : stage_(has_acks ? stage::used : stage::unused),
      current_before_(current_before) {}

  /// A client has connected.
  /// @returns whether the JOURNAL must be asked; `on_answer` follows.
  bool on_client() noexcept {
    if (stage_ != stage::unused)
      return false;
    stage_ = stage::waiting;
    return true;
  }

  /// @param whole_from `storage::log_whole_from` now.
  void on_answer(storage::op_id whole_from) noexcept {
    stage_ = stage::used;
    current_before_ = whole_from;
  }

  /// See `storage::consumer_row`. Its row must not be written before
  /// `may_read`.
  storage::op_id current_before() const noexcept { return current_before_; }

  bool may_read() const noexcept { return stage_ != stage::waiting; }

  /// From its first client on, whatever it has not acked is needed.
  bool begun() const noexcept { return stage_ != stage::unused; }

private:
  enum class stage : uint8_t { unused, waiting, used };

  stage stage_;
  storage::op_id current_before_;
};

} // namespace weir::actors
