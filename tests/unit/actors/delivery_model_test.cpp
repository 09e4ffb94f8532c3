#include "base/random.hpp"
#include "delivery_world.hpp"
#include "wire/tap.hpp"

#include <algorithm>
#include <cstdlib>

// Random scripts against a small model: api.md, Acks; architecture.md I5 and
// I8.
namespace weir::tests {

namespace {

using storage::op_id;
using namespace std::chrono_literals;

constexpr size_t dids = 6;

/// The simplest statement of what may be sent.
class model {
public:
  explicit model(const delivery_world& world) : world_(world) {
    // nop
  }

  bool settled(op_id id) const {
    const auto& op = op_of(id);
    return world_.acked.contains(id) || world_.dropped.contains(id)
           || (world_.letters.contains(id) && !world_.retried.contains(id))
           || world_.buried(id)
           || id <= world_.standing(repo_of(id)).erased_through
           || (!delivery_world::is_fact(op)
               && (op.scope.starts_with('$')
                   || !world_.options.filter.matches(op.scope)));
  }

  /// Called for each event that is sent, in order.
  void check(const delivery_world::effects::send& x) {
    const auto& who = x.entry->repo.str();
    for (const auto id : events_[who])
      if (id < x.id && !settled(id))
        check_after(x, id);
      else if (id > x.id && flying(id) && barrier(id) && !fact(id)
               && !world_.retried.contains(x.id))
        ADD_FAILURE() << x.id << " was sent while " << id << " was in flight";
    // Facts of a DID that could not be set aside are not looked up again.
    EXPECT_TRUE(fact(x.id) || !was_told_away(who)
                || world_.options.parked_max < 60)
      << x.id << " was sent to whom its account is away";
    sent_.insert(x.id);
  }

  void appended(const std::string& who, op_id first, op_id last) {
    for (auto id = first; id <= last; ++id)
      events_[who].push_back(id);
  }

  void deactivated(const std::string& who) { was_inactive_.insert(who); }

  void restarted() {
    sent_.clear();
    acked_before_ = world_.acked;
  }

private:
  /// By the last fact that this life sent or the store has as acked. A late ack
  /// may come after an event that waited for it.
  bool was_told_away(const std::string& who) {
    auto away = false;
    for (const auto id : events_[who]) {
      if (!fact(id))
        continue;
      const auto says = wire::parse_account_fact(op_of(id).body.view());
      if (sent_.contains(id) || acked_before_.contains(id))
        away = !says->active;
      else if (world_.acked.contains(id) && says->active)
        away = false;
    }
    return away;
  }

  void check_after(const delivery_world::effects::send& x, op_id earlier) {
    if (fact(x.id) && !fact(earlier)) {
      EXPECT_TRUE(was_inactive_.contains(x.entry->repo.str()))
        << x.id << " overtook " << earlier;
      return;
    }
    EXPECT_FALSE(barrier(x.id)) << x.id << " did not wait for " << earlier;
    EXPECT_FALSE(barrier(earlier)) << x.id << " overtook live " << earlier;
    EXPECT_EQ(x.entry->job, world_.entry_of(earlier)->job)
      << x.id << " of another fetch did not wait for " << earlier;
    EXPECT_TRUE(sent_.contains(earlier)) << x.id << " overtook " << earlier;
  }

  bool flying(op_id id) const {
    const auto i = world_.unacked.find(id);
    return i != world_.unacked.end() && world_.inbox.contains(i->second.to)
           && sent_.contains(id);
  }

  const storage::logged_operation& op_of(op_id id) const {
    const auto entry = world_.entry_of(id);
    return entry->ops[id - entry->first];
  }

  const atproto::did& repo_of(op_id id) const {
    return world_.entry_of(id)->repo;
  }

  bool fact(op_id id) const { return delivery_world::is_fact(op_of(id)); }

  bool barrier(op_id id) const { return fact(id) || world_.entry_of(id)->live; }

  const delivery_world& world_;
  std::unordered_map<std::string, std::vector<op_id>> events_;
  std::unordered_set<std::string> was_inactive_;
  std::unordered_set<op_id> sent_;
  std::unordered_set<op_id> acked_before_; ///< By clients of earlier lives.
};

/// One script: the same seed gives the same run.
class script {
public:
  explicit script(uint64_t seed)
    : random_(seeded_random(seed)), world_(settings(seed)), model_(world_) {
    world_.on_send = [this](const auto& x) {
      model_.check(x);
    };
    for (size_t i = 0; i < dids; ++i)
      names_.push_back(did_number(i + 1));
  }

  void run(size_t steps) {
    for (size_t i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      step();
      const auto& machine = *world_.machine;
      ASSERT_LE(machine.events(), world_.options.events_max);
      ASSERT_LE(machine.remembered(),
                world_.options.parked_max + world_.options.events_max);
      // Holes are events in memory, or of parked DIDs.
      if (world_.retried.empty()) {
        ASSERT_GE(machine.position(), world_.position);
      }
    }
    drain();
  }

private:
  static actors::delivery_options settings(uint64_t seed) {
    actors::delivery_options out;
    out.events_max = 12;
    out.did_events_max = seed % 3 == 0 ? 1 : 4;
    out.parked_max = seed % 4 == 0 ? 8 : 60;
    out.attempts_max = 4;
    out.fire_and_forget = seed % 10 == 0;
    if (seed % 2 == 0)
      out.filter = *wire::collection_filter::parse({"app.bsky.feed.post"});
    return out;
  }

  bool one_in(uint64_t n) { return random_->below(n) == 0; }

  const std::string& somebody() {
    return names_[random_->below(names_.size())];
  }

  void step() {
    switch (random_->below(13)) {
      case 0:
      case 1:
        return write();
      case 2:
        return one_in(3) ? change_account() : publish();
      case 3:
      case 4:
        return static_cast<void>(world_.answer_one(random_->next()));
      case 5:
        return connection();
      case 6:
      case 7:
      case 8:
        return ack();
      case 9:
        return advance(std::chrono::milliseconds{random_->below(40'000)});
      case 10:
        return disk();
      case 11:
        return one_in(6) ? decide() : void();
      default:
        if (one_in(12))
          crash();
    }
  }

  /// Requests a dead letter again, or drops it.
  void decide() {
    for (const auto& [id, letter] : world_.letters)
      if (one_in(3) && !world_.retried.contains(id)
          && !world_.dropped.contains(id) && !world_.acked.contains(id)) {
        using enum actors::letter_wish::fate;
        world_.decide({id}, one_in(3) ? drop : deliver);
        return;
      }
  }

  void write() {
    const auto& who = somebody();
    if (!world_.standing(atproto::did::trusted(who)).active)
      return;
    const auto count = 1 + random_->below(6);
    const auto live = !one_in(3);
    const auto first = one_in(6)
                         ? world_.append_commit(who)
                         : world_.append(who, count, live,
                                         one_in(4) ? "app.bsky.feed.like"
                                                   : "app.bsky.feed.post");
    model_.appended(who, first, world_.last());
  }

  void change_account() {
    const auto& who = somebody();
    const auto active = world_.standing(atproto::did::trusted(who)).active;
    if (active)
      model_.deactivated(who);
    const auto id = active && one_in(4) ? world_.append_deletion(who)
                                        : world_.append_account(who, !active);
    model_.appended(who, id, id);
  }

  void publish() {
    world_.begin(world_.machine->on_log(world_.last(),
                                         world_.log_events(), world_.now));
  }

  void connection() {
    if (world_.inbox.size() < 2 || one_in(3)) {
      ++session_;
      world_.inbox[session_];
      world_.begin(world_.machine->on_session_up(session_, world_.now));
    } else {
      const auto id = world_.inbox.begin()->first;
      world_.inbox.erase(id);
      world_.begin(world_.machine->on_session_down(id, world_.now));
    }
  }

  void ack() {
    std::vector<op_id> acked;
    if (!world_.unacked.empty()) {
      auto i = world_.unacked.begin();
      std::advance(i, random_->below(world_.unacked.size()));
      // The last DID acks only sometimes.
      if (world_.did_of(i->first) != names_.back() || one_in(20))
        acked.push_back(i->first);
    }
    if (one_in(10) && !world_.acked.empty())
      acked.push_back(*world_.acked.begin());
    if (one_in(10))
      acked.push_back(world_.last() + 1 + random_->below(5));
    for (const auto id : acked)
      if (world_.unacked.erase(id) != 0)
        world_.acked.insert(id);
    world_.begin(world_.machine->on_acks(session_, acked, world_.now));
  }

  /// Publishes first, because nothing stays unpublished for seconds.
  void advance(std::chrono::microseconds x) {
    publish();
    const auto end = world_.now + x;
    while (world_.timer && *world_.timer <= end) {
      world_.now = std::max(world_.now, *world_.timer);
      world_.timer.reset();
      world_.begin(world_.machine->on_timer(world_.now));
    }
    world_.now = end;
  }

  void disk() {
    world_.disk_is_slow = !world_.disk_is_slow;
    world_.full_sockets.clear();
    if (one_in(3))
      world_.full_sockets.insert(session_);
  }

  /// Everything that was not durable is lost.
  void crash() {
    std::erase_if(world_.acked, [&](op_id id) {
      return !world_.stored_as_acked(id);
    });
    for (const auto& x : world_.sent)
      if (!world_.acked.contains(x.id))
        world_.unacked.insert_or_assign(x.id, x);
    world_.restart();
    model_.restarted();
  }

  void drain() {
    world_.disk_is_slow = false;
    world_.full_sockets.clear();
    for (const auto& who : names_)
      if (!world_.standing(atproto::did::trusted(who)).active) {
        const auto id = world_.append_account(who, true);
        model_.appended(who, id, id);
      }
    world_.connect(++session_);
    world_.publish();
    for (int i = 0; i < 2000 && world_.position != world_.last()
                    && !testing::Test::HasFailure();
         ++i) {
      while (world_.answer_one(0)) {
      }
      world_.ack_all();
      world_.pass(20s);
    }
    const auto& machine = *world_.machine;
    EXPECT_EQ(world_.written_position(), world_.last());
    EXPECT_EQ(machine.backlog(), 0u);
    EXPECT_EQ(machine.lanes(), 0u);
    EXPECT_EQ(machine.events(), 0u);
    EXPECT_EQ(machine.bytes(), 0u);
    EXPECT_EQ(machine.remembered(), 0u);
    for (op_id id = 1; id <= world_.last(); ++id)
      ASSERT_TRUE(model_.settled(id)) << id << " was never delivered";
  }

  std::unique_ptr<random_source> random_;
  delivery_world world_;
  model model_;
  std::vector<std::string> names_;
  actors::session_id session_ = 0;
};

} // namespace

TEST(DeliveryModel, HoldsForRandomScripts) {
  const char* only = std::getenv("WEIR_SEED");
  const uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const uint64_t last = only != nullptr ? first : 1500;
  for (auto seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("WEIR_SEED=" + std::to_string(seed));
    script{seed}.run(400);
    if (HasFailure())
      return;
  }
}

} // namespace weir::tests
