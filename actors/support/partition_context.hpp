#pragma once

#include "actors/support/account_board.hpp"
#include "actors/support/store_growth.hpp"
#include "actors/support/store_stats.hpp"
#include "base/clock.hpp"
#include "messages/interfaces.hpp"
#include "wire/event_numbers.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace weir::actors {

/// Numbers of one CONSUMER, which writes them; any thread may read.
struct consumer_stats {
  std::atomic<uint64_t> position{0}; ///< Everything at or below is acked.
  std::atomic<uint64_t> backlog{0};  ///< Durable events not settled yet.
  /// The time when the oldest event was logged that could be delivered and is
  /// not settled, in microseconds since 1970; 0 when there is none.
  std::atomic<int64_t> oldest_us{0};
  std::atomic<uint64_t> in_flight{0};
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> acked{0};
  std::atomic<uint64_t> redelivered{0};
  std::atomic<uint64_t> foreign_acks{0}; ///< Acks of ids the log never gave.
  std::atomic<uint64_t> refused_acks{0}; ///< Messages that were not acks.
  std::atomic<uint64_t> dead_letters{0}; ///< Dead letters kept now.
  /// False: it never sent anything, so it needs no part of the log: the current
  /// version of everything is enough.
  std::atomic<bool> uses_log{true};

  /// Age of the oldest event that could be delivered and is not settled.
  double backlog_seconds(wall_time now) const noexcept {
    const auto at = oldest_us.load(std::memory_order_relaxed);
    return at == 0 || now.micros <= at ? 0 : double(now.micros - at) / 1e6;
  }
};

/// The CONSUMERs that are notified when the log advances. Any thread.
class log_subscribers {
public:
  void add(consumer_actor x) {
    const std::lock_guard guard{mutex_};
    list_.push_back(std::move(x));
  }

  void clear() {
    const std::lock_guard guard{mutex_};
    list_.clear();
  }

  std::vector<consumer_actor> all() const {
    const std::lock_guard guard{mutex_};
    return list_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<consumer_actor> list_;
};

/// What the actors of one partition share besides the `context` of their node:
/// the boards and numbers of its repos, and the handles of each other. An actor
/// that lives in a partition calls it its `home`.
///
/// Made by the `context`. `partition` fills the handles before any event flows,
/// and releases them at shutdown (they would keep each other alive).
struct partition_context {
  explicit partition_context(uint16_t x) : number(x) {}

  const uint16_t number;       ///< Its place among the partitions, from 0.
  wire::event_numbers numbers; ///< Never changes while there are actors.
  account_board accounts;
  store_stats stats;
  store_growth growth;
  consumer_stats outbox; ///< The numbers of its CONSUMER.

  journal_actor journal;
  sweeper_actor sweeper;
  std::vector<reader_actor> readers;
  consumer_actor consumer;
  log_subscribers subscribers;

  /// Spreads reads. Equal keys go to the same READER, in order.
  const reader_actor& reader_of(uint64_t key) const {
    return readers[key % readers.size()];
  }

  const reader_actor& reader_of(const atproto::did& repo) const {
    return reader_of(atproto::stable_hash(repo.str()));
  }

  void clear() {
    journal = nullptr;
    sweeper = nullptr;
    readers.clear();
    consumer = nullptr;
    subscribers.clear();
  }
};

using home_ptr = std::shared_ptr<partition_context>;

} // namespace weir::actors
