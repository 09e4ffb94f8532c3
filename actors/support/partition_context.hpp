#pragma once

#include "actors/support/account_board.hpp"
#include "actors/support/consumer_stats.hpp"
#include "actors/support/store_growth.hpp"
#include "actors/support/store_stats.hpp"
#include "messages/interfaces.hpp"
#include "wire/event_numbers.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace weir::actors {

/// The CONSUMERs that are notified when the log advances. Any thread.
class log_subscribers {
public:
  void add(consumer_actor x);
  void clear();
  std::vector<consumer_actor> all() const;

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
/// and they are let go of at shutdown (they would keep each other alive).
struct partition_context {
  explicit partition_context(uint16_t x) : number(x) {}

  const uint16_t number;       ///< Among the partitions of the node, from 0.
  wire::event_numbers numbers; ///< Never changes while there are actors.
  account_board accounts;
  store_stats stats;
  store_growth growth;
  consumer_stats outbox; ///< Of its CONSUMER.

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

  /// Releases all handles.
  void clear();
};

using home_ptr = std::shared_ptr<partition_context>;

} // namespace weir::actors
