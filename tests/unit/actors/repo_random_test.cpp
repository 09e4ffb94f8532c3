#include "actors/repo/limits.hpp"
#include "tests/unit/actors/machine_frames.hpp"
#include "tests/unit/actors/repo_world.hpp"

namespace weir::tests {
namespace {

using testing::IsEmpty;

/// An account, a stream, a directory, a SUPERVISOR and a host do anything that
/// they may do, in any order, with crashes in between. The stream loses
/// nothing: after a crash it sends unfinished frames again.
class random_life : public repo_world {
public:
  explicit random_life(uint64_t seed)
    : random_(seeded_random(seed)),
      upstream_(seed % 2 == 0 ? relay_id : pds_id) {
    add();
    look();
  }

  void step() {
    switch (random_->below(16)) {
      case 0:
      case 1:
      case 2:
        commit();
        break;
      case 3:
        if (!commits_.empty())
          send(commits_[random_->below(commits_.size())]);
        break;
      case 4:
        if (random_->below(10) == 0)
          for (size_t i = 0; i < limits::repo_waiting_commits_max + 30; ++i)
            commit();
        break;
      case 5:
        pass(std::chrono::milliseconds{random_->below(3'000)});
        break;
      case 6:
        if (random_->below(8) == 0)
          crash();
        break;
      case 7:
        if (random_->below(4) == 0)
          change_account();
        break;
      case 8:
        send(own(identity_frame(1, account.did())));
        break;
      case 9:
        random_->below(8) == 0 ? static_cast<void>(resync())
                               : list(account.rev(), listed(), upstream_);
        break;
      default:
        work(random_->below(10) == 0);
    }
    look();
  }

  /// Ends everything that was begun. Then the audit follows, for statements
  /// that came while the account's host was not known.
  void calm_down() {
    if (!active_)
      change_account();
    rest();
    list(account.rev(), listed(), upstream_);
    rest();
  }

  size_t open() const { return open_.size(); }

private:
  void rest() {
    look();
    for (int i = 0; i < 10'000 && (busy() || !machine->idle()); ++i) {
      work(false);
      if (!busy())
        pass(60s);
      look();
    }
  }

  bool busy() const {
    return in_flight || wanted_ || running_ || reads > pages
           || !questions.empty()
           || loads + refreshes > answered_;
  }

  account_status listed() const {
    return active_ ? account_status::active : account_status::deactivated;
  }

  static bytes own(const shared_bytes& x) {
    return {x.view().begin(), x.view().end()};
  }

  void send(bytes frame) {
    sent_.push_back(std::move(frame));
    open_.emplace(take(sent_.back(), upstream_), sent_.size() - 1);
    look();
  }

  void commit() {
    if (!active_)
      return;
    commits_.push_back(
      make_commit("app.test.note/r" + std::to_string(random_->below(40))));
    send(commits_.back());
  }

  /// A host sends #sync when an account is back.
  void change_account() {
    active_ = !active_;
    const auto* word = active_                  ? ""
                       : random_->below(3) == 0 ? "deleted"
                                                : "deactivated";
    send(own(account_frame(1, active_, word, account.did())));
    if (active_)
      send(account.sync_frame(1));
  }

  void crash() {
    in_flight.reset();
    clear();
    answered_ = 0;
    running_ = ordered_ = false;
    restart();
    look();
    wanted_ = wanted_ || (row && row->status != repo_status::synced);
    if (!row && !machine->tracked())
      add();
    if (open_.empty())
      return;
    const std::vector<bytes> again{
      sent_.begin() + static_cast<ptrdiff_t>(open_.begin()->second),
      sent_.end()};
    sent_.resize(open_.begin()->second);
    open_.clear();
    for (const auto& frame : again)
      send(frame);
  }

  /// One step of the actors that serve the repo.
  void work(bool badly) {
    if (loads + refreshes > answered_ && random_->below(2) == 0) {
      ++answered_;
      badly ? learn(fail(ec::unreachable)) : learn(identity());
    } else if (in_flight && random_->below(3) != 0) {
      write();
    } else if (reads > pages) {
      const auto left
        = std::distance(buffer.upper_bound(page_after), buffer.end());
      page(64, left < 64);
    } else if (!questions.empty()) {
      questions.clear();
      if (!badly)
        answer(listed());
    } else if (ordered_) {
      fetch(badly);
    } else if (wanted_ && !running_) {
      wanted_ = false;
      running_ = true;
      if (badly) {
        running_ = false;
        no_host({account.did(), fail(ec::unreachable)});
      } else {
        begin(++job_);
      }
    }
  }

  void fetch(bool badly) {
    if (badly) {
      ordered_ = false;
      fail_fetch(job_, fail(random_->below(2) == 0 ? ec::unreachable
                                                   : ec::rate_limited));
    } else if (random_->below(3) == 0) {
      storage::new_operation op;
      op.scope = "app.test.note";
      op.rkey = "a";
      op.id = root_->commit;
      chunk(job_, {op});
    } else {
      ordered_ = false;
      fetched(job_, *root_);
    }
  }

  /// Records what the repo decided.
  void look() {
    for (const auto seq : std::exchange(done, {}))
      EXPECT_EQ(open_.erase(seq), 1u) << "finished twice: " << seq;
    EXPECT_THAT(stops, IsEmpty());
    wanted_ |= !std::exchange(wishes, {}).empty();
    if (!std::exchange(cancelled, {}).empty())
      ordered_ = false;
    if (!std::exchange(job_ends, {}).empty())
      running_ = false;
    if (!std::exchange(orders, {}).empty()) {
      ordered_ = true;
      page_after = {};
      root_ = root();
    }
  }

  std::unique_ptr<random_source> random_;
  uint32_t upstream_;
  std::vector<bytes> sent_;
  std::vector<bytes> commits_;
  std::map<uint64_t, size_t> open_; ///< Seq to place in `sent_`.
  std::optional<atproto::verified_root> root_;
  uint64_t job_ = 0;
  size_t answered_ = 0;
  bool active_ = true;
  bool wanted_ = false;
  bool running_ = false;
  bool ordered_ = false;
};

/// Between two erasures the revs of a repo's log only grow.
void expect_forward(const std::vector<storage::transaction>& log) {
  atproto::tid last;
  for (const auto& tx : log) {
    if (tx.ops.back().scope == storage::account_scope) {
      last = {}; // It may have been a deletion.
      continue;
    }
    if (tx.ops.back().scope != storage::commit_scope)
      continue;
    EXPECT_GE(tx.rev, last);
    last = tx.rev;
  }
}

// architecture.md I4, I9: states follow the model, every added repo settles,
// and waiting changes nothing
TEST(repo_random, whatever_happens_the_copy_ends_equal_and_all_is_finished) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_life x{seed};
    for (int i = 0; i < 400; ++i)
      x.step();
    x.calm_down();
    EXPECT_TRUE(x.machine->idle());
    EXPECT_EQ(x.open(), 0u);
    ASSERT_TRUE(x.row);
    EXPECT_EQ(x.row->status, repo_status::synced);
    EXPECT_EQ(x.row->account, account_status::active);
    EXPECT_EQ(x.chain->data, x.account.data());
    expect_forward(x.log);
    if (HasFailure())
      return;
  }
}

} // namespace
} // namespace weir::tests
