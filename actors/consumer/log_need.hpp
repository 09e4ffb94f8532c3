#pragma once

#include "storage/format/records.hpp"

#include <algorithm>
#include <cstdint>

namespace weir::actors {

using storage::op_id;

/// Knows which part of the log must not be trimmed, because a consumer still
/// needs it (docs/adr/0035). Without CAF; one thread.
///
/// A consumer that was never sent an event needs nothing: it can begin with any
/// state. When its first client connects, trimming may already be under way.
/// So the JOURNAL is asked for an answer, which comes after that trimming, and
/// the log is not read before.
class log_need {
public:
  /// @param position Its durable position.
  /// @param has_acks It has acked an event.
  log_need(op_id position, bool has_acks) noexcept
    : stage_(has_acks ? stage::used : stage::unused), written_(position),
      durable_(position) {}

  /// A client has connected.
  /// @returns whether the JOURNAL must be asked; `on_answer` follows.
  bool on_client() noexcept {
    if (stage_ != stage::unused)
      return false;
    stage_ = stage::waiting;
    return true;
  }

  void on_answer() noexcept { stage_ = stage::used; }

  bool may_read() const noexcept { return stage_ != stage::waiting; }

  /// A row with this position was sent to the JOURNAL, one at a time.
  void on_write(op_id position) noexcept { written_ = position; }

  /// That row is durable.
  void on_durable() noexcept { durable_ = written_; }

  /// Every operation after this one is needed; UINT64_MAX: none is. After a
  /// crash the consumer begins with its durable row, so what was acked since
  /// then does not count.
  /// @param position The position in memory, which falls when an event is
  /// opened again.
  op_id after(op_id position) const noexcept {
    return stage_ == stage::unused ? UINT64_MAX : std::min(position, durable_);
  }

private:
  enum class stage : uint8_t { unused, waiting, used };

  stage stage_;
  op_id written_;
  op_id durable_;
};

} // namespace weir::actors
