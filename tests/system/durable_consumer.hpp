#pragma once

#include "apps/demo/copy.hpp"
#include "base/random.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/event_file.hpp"
#include "tests/system/store_left.hpp"

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weir::tests {

/// An application that outlives the node. It writes every event down durably,
/// acks it afterwards, and checks the node's promises about acks.
///
/// # What an ack is worth
/// Tap's protocol does not confirm acks, so "no acked id comes again" needs a
/// meaning that can be observed from outside. The node settles an event only by
/// its ack. `limits::acks_write_wait` after an ack, or at its next turn after
/// that, it hands the acks to the JOURNAL, one write at a time, before it sends
/// an event; and the JOURNAL writes them with its next batch
/// (delivery_machine.hpp, Durability; journal.hpp, Order). From this follows,
/// the strongest first:
///
///  1. An event whose ack is in the store that a dead process left never comes
///     again, whatever dies later.
///  2. On one connection no id comes twice, since the wait before a repetition
///     is longer than any connection of these tests.
///  3. The node shows that it has an ack when it sends the DID's next event
///     across a barrier, and with it all acks sent before that one. From then
///     on three more commits of its partition, each made that wait after the
///     one before it had arrived here, put it into the store: with the first
///     the ack is due, the second ends the write under way, and the third
///     cannot be durable before the write that has our ack. Such an ack is
///     *confirmed*, and must be in the store that a killed process leaves.
///  4. A node that ends in order (SIGTERM) writes every ack that it has: those
///     it has shown to have, as in 3, are in the store without any commit.
///
/// Any other ack may be lost with the process. Its event then comes again, with
/// the same content (`counters::in_doubt`).
///
/// # Threads
/// Events come on an io thread; all calls come from the test's thread. Between
/// `end_connection` and the next `connect` no event comes.
class durable_consumer {
public:
  struct counters {
    uint64_t taken = 0;     ///< Ids that were new.
    uint64_t again = 0;     ///< Ids that came again.
    uint64_t in_doubt = 0;  ///< Of those, ids whose ack was on its way.
    uint64_t confirmed = 0; ///< Acks that had to be in a store.
  };

  /// @param file The file to which events are written.
  durable_consumer(const std::string& file, uint64_t seed);

  /// Connects to a node.
  /// @param forgetful Leaves out one ack of 64, so that the set of acked ids
  /// has holes. Those events must come again in a later life of the node.
  /// @param late Starts with those acks of earlier connections that may be
  /// lost.
  void connect(const net::transport_ptr& network, const std::string& data_url,
               bool forgetful, bool late);

  /// Waits until this many events came on this connection, or it ended.
  void wait_for(size_t events, std::chrono::steady_clock::time_point until);

  /// Whether there is a connection and it has ended.
  bool cut_off() const;

  /// Called when the node is dead: takes the events that are still on their
  /// way.
  void end_connection();

  /// Compares the acks with those in the store that a dead node left.
  /// @param in_order The node was not killed.
  /// @pre `end_connection` was called
  void check_acks(const store_left& store, bool in_order);

  counters counts() const;

  /// Violations, one a line: an id with two contents, one that came again
  /// although rule 1 or 2 forbids it, a confirmed ack that the store lacks, an
  /// ack in the store that nobody sent, an event that overtook its barrier.
  std::string wrongs() const;

  /// Shows the copy that was made of all events, which does not change
  /// meanwhile.
  void read(const std::function<void(const apps::event_copy&)>& look) const;

private:
  struct incoming;

  /// The content of an id.
  struct meaning {
    std::string hash;
    std::string did;
  };

  /// The events of one DID on this connection.
  struct lane {
    uint64_t last = 0;      ///< Id of the last event.
    bool barrier = false;   ///< The last event was live.
    size_t last_ack = 0;    ///< Number of the last event's ack; 0: none.
    size_t highest_ack = 0; ///< The highest number of an ack of this DID.
    size_t open = 0;        ///< Events that are not acked.
  };

  /// What a partition has shown of the acks of its events, on this connection.
  struct evidence {
    size_t seen = 0; ///< It has those with numbers up to this.
    /// The same before the last commit, and before the ones ahead of it. Those
    /// of the last number are in the store.
    std::array<size_t, 4> confirmed{};
    wall_time tick; ///< When the last commit was here.
  };

  std::vector<uint64_t> take(const std::vector<std::string_view>& texts);
  void take_one(const incoming& x, std::string_view text);
  void follow_barriers(const incoming& x);
  void tick(uint64_t id, wall_time made);
  evidence& evidence_of(uint64_t id) {
    return evidence_.at((id - 1) % evidence_.size());
  }
  void expect(bool good, uint64_t id, const char* otherwise);
  std::vector<uint64_t> choose_acks(const std::vector<incoming>& batch);
  void enter_ack(uint64_t id);
  static void note_ack(lane& at, uint64_t id, size_t number);

  mutable std::mutex guard_;
  std::condition_variable came_;
  event_file file_;
  apps::event_copy copy_;
  std::unordered_map<uint64_t, meaning> known_;
  std::unordered_set<uint64_t> acked_; ///< All acks that were ever sent.
  actors::acked_set settled_;          ///< Acks that were found in a store.
  std::unique_ptr<random_source> random_;
  counters count_;
  std::string wrongs_;

  // Of one connection:
  std::unordered_set<uint64_t> here_;
  std::unordered_map<std::string, lane> lanes_;
  std::vector<uint64_t> acks_;
  std::unordered_map<uint64_t, size_t> ack_numbers_; ///< From 1.
  std::vector<evidence> evidence_; ///< By partition: each has a JOURNAL.
  bool forgetful_ = false;
  bool over_ = false;

  std::unique_ptr<channel_client> channel_; ///< Is destroyed first.
};

} // namespace weir::tests
