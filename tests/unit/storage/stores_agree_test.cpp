#include "tests/unit/storage/apply_steps.hpp"
#include "tests/unit/storage/store_kinds.hpp"

#include <gmock/gmock.h>

// prop_stores_agree: the same random script gives equal answers and equal
// hashes on all kinds of stores (OPLOG-06, OPLOG-08).

namespace weir::storage {
namespace {

using tests::all_pages;
using tests::apply_step;
using tests::change;

constexpr const char* scopes[]
  = {"app.a.x", "app.b.y", "$commit", "$identity", "$account", "app.none.z"};

class StoresAgreeTest : public testing::TestWithParam<uint64_t> {
protected:
  StoresAgreeTest() : dice_(seeded_random(GetParam())) {
    for (const auto& kind : tests::store_kinds())
      stores_.push_back(kind.make());
  }

  size_t draw(size_t below) { return dice_->below(below); }

  tests::applying_account& somebody() { return accounts_[draw(3)]; }

  std::vector<change> changes(tests::applying_account& of) {
    std::vector<change> out;
    for (size_t i = draw(4) + 1; i > 0; --i) {
      const auto path = std::string{scopes[draw(2)]} + "/"
                        + std::to_string(i * 10 + draw(9));
      const bool drop = of.who.records.contains(path) && draw(3) == 0;
      out.push_back({path, drop ? "" : std::string(1 + draw(300), 'b'),
                     !drop && draw(9) == 0});
    }
    return out;
  }

  /// A transaction that is right.
  apply_step good_step() {
    auto& who = somebody();
    if (draw(4) != 0)
      return who.commit(changes(who));
    const auto status = draw(2) == 0 ? account_status::active
                                     : account_status::deactivated;
    return who.fact(draw(2) == 0 ? identity_scope : account_scope,
                    draw(3) == 0 ? "" : "x" + std::to_string(draw(5)) + ".test",
                    status);
  }

  /// Makes a transaction wrong in some way.
  void spoil(apply_step& x) {
    switch (draw(6)) {
      case 0:
        x.request.streams.front().revision += draw(2) == 0 ? 1 : UINT64_MAX;
        return;
      case 1:
        x.operations.back().index += 1 + draw(3);
        return;
      case 2: // Facts of different indices are different operations.
        if (x.operations.back().operation.scope != commit_scope)
          x.request.job = 1;
        x.operations.push_back(x.operations.back());
        x.operations.back().index += 1;
        return;
      case 3:
        x.request.cancelled = [] {
          return true;
        };
        return;
      case 4:
        x.operations.front().operation.content = {};
        x.operations.front().operation.undecodable = false;
        x.operations.front().operation.action = atproto::op_action::create;
        return;
      default:
        x.request.live = !x.request.live;
    }
  }

  static std::string words_of(const apply_receipt& x) {
    auto out = std::string{to_string(x.outcome)} + " "
               + std::to_string(x.first) + " " + std::to_string(x.last) + " "
               + x.scope + " " + std::to_string(x.expected) + " "
               + std::to_string(x.actual) + " " + x.reason;
    std::map<std::string, std::string> ends; // In any order.
    for (const auto& end : x.ends)
      ends[end.scope]
        = std::to_string(end.next_index) + " " + atproto::encode_hex(end.hash);
    for (const auto& [scope, end] : ends)
      out += " " + scope + " " + end;
    return out;
  }

  /// Applies it to all stores.
  /// @returns the outcome, which is the same
  apply_outcome apply(const apply_step& x) {
    const auto first = x.on(stores_.front()->get());
    for (size_t i = 1; i < stores_.size(); ++i)
      EXPECT_EQ(words_of(x.on(stores_[i]->get())), words_of(first));
    return first.outcome;
  }

  /// Compares what all stores answer.
  template <class Ask>
  void compare(Ask ask) {
    const auto first = ask(stores_.front()->get());
    for (size_t i = 1; i < stores_.size(); ++i)
      EXPECT_EQ(ask(stores_[i]->get()), first) << tests::store_kinds()[i].name;
  }

  read_bounds some_bounds() {
    read_bounds out;
    out.ops_max = 1 + draw(9);
    out.bytes_max = 1 + draw(2'000);
    out.looked_max = 1 + draw(20);
    out.with_content = draw(3) != 0;
    return out;
  }

  void ask_for_a_stream() {
    const stream_name stream{somebody().who.repo, scopes[draw(6)]};
    const auto bounds = some_bounds();
    const auto from = draw(3) == 0 ? std::nullopt : std::optional{draw(9)};
    compare([&](operation_store& x) {
      return all_pages([&](std::optional<uint64_t> after) {
        return x.get_since(stream, after ? after : from, bounds);
      });
    });
    const auto ms = static_cast<int64_t>(draw(1'200));
    compare([&](operation_store& x) {
      return all_pages([&](std::optional<uint64_t> after) {
        return x.get_since_time(stream, ms, after, bounds);
      });
    });
    compare([&](operation_store& x) {
      const auto one = x.get(stream, draw_index_, bounds).value();
      return one ? tests::all_of(*one) : std::string{};
    });
    compare([&](operation_store& x) { return x.next_index(stream).value(); });
    draw_index_ = draw(12);
  }

  void ask_for_the_log() {
    operation_filter filter;
    if (draw(2) == 0)
      filter.repo = somebody().who.repo;
    if (draw(2) == 0)
      filter.scopes = {scopes[draw(6)], scopes[draw(6)]};
    if (draw(3) == 0)
      filter.actions = {atproto::op_action::update};
    const auto bounds = some_bounds();
    const auto from = draw(2) == 0 ? 0 : draw(40);
    compare([&](operation_store& x) {
      return all_pages([&](std::optional<uint64_t> after) {
        return x.get_since_id(after.value_or(from), filter, bounds);
      });
    });
    const auto& repo = somebody().who.repo;
    const auto revision = draw(20);
    compare([&](operation_store& x) {
      const auto header = x.get_header(repo, revision).value();
      return header ? header->handle + to_string(header->account)
                        + std::to_string(header->as_of)
                    : std::string{};
    });
  }

  void step() {
    auto x = good_step();
    const bool spoiled = draw(4) == 0;
    auto& who = *std::ranges::find_if(accounts_, [&](const auto& a) {
      return a.who.repo == x.request.repo;
    });
    if (!spoiled) {
      EXPECT_EQ(apply(x), apply_outcome::done);
      last_ = x;
      return;
    }
    const auto right = x;
    spoil(x);
    EXPECT_NE(apply(x), apply_outcome::done);
    EXPECT_EQ(apply(right), apply_outcome::done) << who.who.repo.str();
    last_ = right;
  }

  void repeat() {
    if (last_.operations.empty())
      return;
    auto again = last_;
    EXPECT_EQ(apply(again), apply_outcome::revision_mismatch);
    again.request.idempotent = true;
    EXPECT_EQ(apply(again), apply_outcome::replayed);
  }

  std::unique_ptr<random_source> dice_;
  std::vector<std::unique_ptr<tests::kept_store>> stores_;
  tests::applying_account accounts_[3]{tests::applying_account{'a'},
                                       tests::applying_account{'b'},
                                       tests::applying_account{'c'}};
  apply_step last_;
  uint64_t draw_index_ = 0;
};

INSTANTIATE_TEST_SUITE_P(seeds, StoresAgreeTest, testing::Range<uint64_t>(1, 21));

TEST_P(StoresAgreeTest, OnAllAnswersAndHashes) {
  for (int i = 0; i < 60; ++i) {
    step();
    ask_for_a_stream();
    ask_for_the_log();
    if (draw(5) == 0)
      repeat();
    for (const auto& store : stores_) {
      store->time.advance(std::chrono::milliseconds{700});
      if (draw(9) == 0)
        store->reopen();
    }
    if (HasFailure())
      return;
  }
  for (const auto& store : stores_)
    EXPECT_EQ(store->findings(), "");
}

} // namespace
} // namespace weir::storage
