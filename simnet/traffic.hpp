#pragma once

#include "simnet/population.hpp"
#include "simnet/world.hpp"

#include <atomic>
#include <mutex>

namespace weir::simnet {

/// What was made so far.
struct traffic_counts {
  /// Commits, identities and accounts; `operations` are parts of commits.
  uint64_t events = 0;
  uint64_t commits = 0;
  uint64_t operations = 0;
  uint64_t identities = 0;
  uint64_t accounts = 0;
};

/// Makes accounts change as in real life: few are busy, most are quiet (Zipf),
/// in the proportions of `traffic_mix`. The seed alone decides which account
/// does what, so equal seeds and calls give equal histories.
///
/// # Ownership and threads
/// Borrows the world. Any thread. Several threads share the work; the order
/// between accounts is then undefined.
class traffic {
public:
  explicit traffic(world& where);

  /// Makes `n` events and returns how many. There are fewer only when hardly
  /// any account is active.
  size_t make(size_t n);

  /// One commit of one account that creates a record, whatever its status is.
  void post(size_t index) {
    const auto self = world_.at(index);
    perform(*self, deed::create);
  }

  /// One commit of one account that creates, changes or deletes one or more
  /// records, whatever its status is.
  void write(size_t index);

  traffic_counts counts() const noexcept;

private:
  enum class deed : uint8_t {
    create,
    update,
    remove,
    batch,
    identity,
    account,
    handle
  };

  struct choice {
    size_t index;
    deed what;
  };

  choice choose();
  void perform(world::account& x, deed what);
  bool act();
  void commit(world::account& x, std::vector<change> changes) {
    ++commits_;
    operations_ += changes.size();
    world_.commit(x, std::move(changes));
  }
  std::vector<change> make_changes(world::account& x, deed what) const;
  change alter_change(world::account& x, bool remove) const;

  world& world_;
  const zipf ranks_;
  std::mutex guard_; ///< Guards the random source.
  std::unique_ptr<random_source> random_;
  std::vector<size_t> by_rank_; ///< Accounts, busiest first.
  std::atomic<uint64_t> commits_{0};
  std::atomic<uint64_t> operations_{0};
  std::atomic<uint64_t> identities_{0};
  std::atomic<uint64_t> accounts_{0};
};

} // namespace weir::simnet
