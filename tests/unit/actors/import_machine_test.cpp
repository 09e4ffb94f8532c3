#include "actors/backfill/import_machine.hpp"
#include "actors/backfill/limits.hpp"
#include "tests/support/repo_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace weir::tests {
namespace {

using namespace weir::actors;
using atproto::op_action;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto chunk_max = limits::chunk_ops_max;

/// The data that a fetch gets, and its results.
class fetch {
public:
  using heads = std::map<std::string, atproto::cid>;

  explicit fetch(const test_repo& repo, heads held = {},
                 std::vector<std::string> filter = {})
    : held_(std::move(held)), now_(repo.now()) {
    order.repo = repo.did();
    order.key = repo.key().public_part();
    order.filter = wire::collection_filter::parse(std::move(filter)).value();
    if (!held_.empty()) {
      auto base = std::make_shared<storage::chain_row>();
      base->record_count = held_.size();
      order.base = base;
    }
  }

  void make() {
    machine.emplace(order, atproto::make_memory_spool(1 << 26),
                    atproto::make_memory_spool(1 << 26));
  }

  /// Feeds `car` in pieces and ends the body.
  result<void> feed(const bytes& car, size_t piece = 1'000) {
    if (!machine)
      make();
    for (size_t at = 0; at < car.size(); at += piece) {
      const auto size = std::min(piece, car.size() - at);
      if (auto ok = machine->feed(bytes_view{car}.subspan(at, size)); !ok)
        return ok;
    }
    return machine->finish(now_);
  }

  /// Takes steps to the end; pages of heads have `page_max` lines.
  result<void> run(size_t page_max = 3, size_t records_max = 7) {
    for (int i = 0; i < 100'000; ++i) {
      const auto out = machine->step(records_max);
      if (!out)
        return out.error();
      if (out->chunk)
        chunks.push_back(*out->chunk);
      if (out->need_heads)
        give_heads(out->heads_after, page_max);
      if (out->done)
        return {};
    }
    return fail(ec::limit_reached, "no end");
  }

  /// All operations as "action path".
  std::vector<std::string> ops() const {
    std::vector<std::string> out;
    for (const auto& chunk : chunks)
      for (const auto& op : chunk)
        out.push_back(std::string{atproto::to_string(op.action)} + ' '
                      + op.scope + '/' + op.rkey);
    return out;
  }

  import_order order;
  std::optional<import_machine> machine;
  std::vector<std::vector<storage::new_operation>> chunks;

private:
  void give_heads(const std::string& after, size_t page_max) {
    std::vector<heads_page::head> page;
    auto i = held_.upper_bound(after);
    for (; i != held_.end() && page.size() < page_max; ++i)
      page.push_back({i->first, i->second});
    machine->on_heads(std::move(page), i == held_.end());
  }

  heads held_;
  wall_time now_;
};

test_repo repo_with(std::initializer_list<const char*> paths) {
  test_repo out;
  for (const auto* path : paths)
    out.put(path, make_record(path));
  out.commit();
  return out;
}

fetch::heads heads_of(const test_repo& repo) {
  return {repo.records().begin(), repo.records().end()};
}

std::string numbered(size_t x) {
  auto out = std::to_string(10'000 + x);
  return "app.test.note/" + out;
}

// SYNC-12: without a copy every record is new
TEST(import_machine, a_first_fetch_creates_every_record) {
  const auto repo = repo_with({"app.test.a/1", "app.test.a/2", "app.test.b/1"});
  fetch x{repo};
  ASSERT_TRUE(x.feed(repo.export_car()));
  ASSERT_TRUE(x.run());
  EXPECT_THAT(x.ops(), ElementsAre("create app.test.a/1", "create app.test.a/2",
                                   "create app.test.b/1"));
  EXPECT_EQ(x.machine->root().data, repo.data());
  EXPECT_EQ(x.machine->root().rev, repo.rev());
  EXPECT_EQ(x.machine->records(), 3u);
  const auto& op = x.chunks.at(0).at(0);
  EXPECT_EQ(op.id, repo.records().at("app.test.a/1"));
  EXPECT_TRUE(
    std::ranges::equal(op.content.view(), make_record("app.test.a/1")));
}

// protocol-coverage.md 5.6: creates, updates and deletes too
TEST(import_machine, the_difference_to_what_is_held_comes_out) {
  auto repo = repo_with(
    {"app.test.a/1", "app.test.a/2", "app.test.a/4", "app.test.b/1"});
  auto held = heads_of(repo);
  repo.put("app.test.a/2", make_record("changed"));
  repo.put("app.test.a/0", make_record("first"));
  repo.put("app.test.c/9", make_record("last"));
  repo.remove("app.test.a/4");
  repo.remove("app.test.b/1");
  repo.commit();
  for (const size_t page : {1, 2, 100}) {
    fetch x{repo, held};
    ASSERT_TRUE(x.feed(repo.export_car()));
    ASSERT_TRUE(x.run(page));
    EXPECT_THAT(x.ops(),
                ElementsAre("create app.test.a/0", "update app.test.a/2",
                            "delete app.test.a/4", "delete app.test.b/1",
                            "create app.test.c/9"));
  }
}

// architecture.md, The stages: records that are already applied make no
// difference
TEST(import_machine, an_equal_copy_gives_no_operation) {
  const auto repo = repo_with({"app.test.a/1", "app.test.a/2"});
  fetch x{repo, heads_of(repo)};
  ASSERT_TRUE(x.feed(repo.export_car()));
  ASSERT_TRUE(x.run());
  EXPECT_THAT(x.chunks, IsEmpty());
}

// protocol-coverage.md 5.6: an empty repo deletes every record of the copy
TEST(import_machine, an_emptied_repo_deletes_everything) {
  auto repo = repo_with({"app.test.a/1", "app.test.a/2"});
  const auto held = heads_of(repo);
  repo.remove("app.test.a/1");
  repo.remove("app.test.a/2");
  repo.commit();
  fetch x{repo, held};
  ASSERT_TRUE(x.feed(repo.export_car()));
  ASSERT_TRUE(x.run());
  EXPECT_THAT(x.ops(),
              ElementsAre("delete app.test.a/1", "delete app.test.a/2"));
}

// SYNC-20, SYNC-21: outside the filter nothing is stored, and records that a
// wider filter stored there are deleted
TEST(import_machine, the_filter_decides_what_is_compared) {
  auto repo = repo_with({"app.test.a/1", "app.test.b/1", "app.test.b/2"});
  auto held = heads_of(repo);
  held.emplace("app.test.a/9", repo.records().at("app.test.a/1"));
  held.emplace("app.test.b/9", repo.records().at("app.test.a/1"));
  held.erase("app.test.a/1");
  held.erase("app.test.b/1");
  fetch x{repo, held, {"app.test.b"}};
  ASSERT_TRUE(x.feed(repo.export_car()));
  ASSERT_TRUE(x.run());
  EXPECT_THAT(x.ops(),
              ElementsAre("delete app.test.a/9", "create app.test.b/1",
                          "delete app.test.b/9"));
}

// architecture.md, Limits: `limits::chunk_ops_max`, and one more
TEST(import_machine, a_chunk_holds_no_more_than_the_limit) {
  for (const size_t extra : {0, 1}) {
    test_repo repo;
    for (size_t i = 0; i < chunk_max + extra; ++i)
      repo.put(numbered(i), make_record("x"));
    repo.commit();
    fetch creating{repo};
    ASSERT_TRUE(creating.feed(repo.export_car()));
    ASSERT_TRUE(creating.run());
    ASSERT_EQ(creating.chunks.size(), 1 + extra);
    EXPECT_EQ(creating.chunks[0].size(), chunk_max);
    EXPECT_EQ(creating.ops().size(), chunk_max + extra);

    const auto held = heads_of(repo);
    for (size_t i = 0; i < chunk_max + extra; ++i)
      repo.remove(numbered(i));
    repo.commit();
    fetch deleting{repo, held};
    ASSERT_TRUE(deleting.feed(repo.export_car()));
    ASSERT_TRUE(deleting.run(100));
    ASSERT_EQ(deleting.chunks.size(), 1 + extra);
    EXPECT_EQ(deleting.chunks[0].size(), chunk_max);
  }
}

// testing.md, Memory: `limits::chunk_bytes_max`
TEST(import_machine, a_chunk_ends_when_its_bytes_are_used_up) {
  test_repo repo;
  for (size_t i = 0; i < 6; ++i)
    repo.put(numbered(i), make_record(std::string(limits::chunk_bytes_max / 3,
                                                  static_cast<char>('a' + i))));
  repo.commit();
  fetch x{repo};
  ASSERT_TRUE(x.feed(repo.export_car()));
  ASSERT_TRUE(x.run());
  ASSERT_EQ(x.chunks.size(), 2u);
  EXPECT_EQ(x.chunks[0].size(), 3u);
}

// architecture.md, The stages: records of a repo that is too large for one pass
// are read twice
TEST(import_machine, a_large_repo_gives_the_same_difference) {
  test_repo repo;
  const std::string body(100'000, 'x');
  for (size_t i = 0; i < 60; ++i)
    repo.put(numbered(i), make_record(body + std::to_string(i)));
  repo.commit();
  auto held = heads_of(repo);
  repo.put(numbered(5), make_record("changed"));
  repo.remove(numbered(59));
  repo.put(numbered(99), make_record("new"));
  repo.commit();
  fetch x{repo, held};
  ASSERT_TRUE(x.feed(repo.export_car(), 65'536));
  ASSERT_GT(x.machine->bytes_fed(), 4'194'304u);
  ASSERT_TRUE(x.run());
  EXPECT_THAT(x.ops(),
              ElementsAre("update " + numbered(5), "delete " + numbered(59),
                          "create " + numbered(99)));
  EXPECT_TRUE(std::ranges::equal(x.chunks.at(0).at(0).content.view(),
                                 make_record("changed")));
  EXPECT_EQ(x.machine->records(), 60u);
}

// limits::import_one_pass_bytes_max: as large as that, and one byte more
TEST(import_machine, a_repo_is_walked_once_up_to_the_limit) {
  constexpr size_t small = 40;
  constexpr size_t large = 8;
  const auto repo_with_last = [](size_t bytes) {
    test_repo repo;
    for (size_t i = 0; i < small; ++i)
      repo.put(numbered(i), make_record("x"));
    for (size_t i = 1; i < large; ++i)
      repo.put(numbered(small + i),
               make_record(std::string(500'000, static_cast<char>('a' + i))));
    repo.put(numbered(small), make_record(std::string(bytes, 'x')));
    repo.commit();
    return repo;
  };
  constexpr size_t guess = 500'000;
  const auto rest = limits::import_one_pass_bytes_max
                    - repo_with_last(guess).export_car().size();
  for (const size_t more : {0, 1}) {
    const auto repo = repo_with_last(guess + rest + more);
    const auto car = repo.export_car();
    ASSERT_EQ(car.size(), limits::import_one_pass_bytes_max + more);
    fetch x{repo};
    ASSERT_TRUE(x.feed(car, 65'536));
    size_t steps = 1;
    while (!x.machine->step(1).value().done)
      ++steps;
    EXPECT_EQ(steps >= 2 * (small + large), more == 1) << steps;
  }
}

// architecture.md, The stages: an unproved CAR gives no operation
TEST(import_machine, nothing_comes_out_before_the_whole_tree_was_proved) {
  test_repo repo;
  for (size_t i = 0; i < 100; ++i)
    repo.put(numbered(i), make_record(std::to_string(i)));
  repo.commit();
  const auto commit = repo.commit_block();
  std::vector<named_block> blocks{{atproto::cid::of_dag_cbor(commit), commit}};
  for (auto& block : repo.blocks())
    if (block.first != repo.records().at(numbered(99)))
      blocks.push_back(std::move(block));
  fetch x{repo};
  ASSERT_TRUE(x.feed(make_car(blocks.front().first, blocks)));
  const auto out = x.run();
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, ec::verification_failed);
  EXPECT_THAT(x.chunks, IsEmpty());
}

// protocol-coverage.md 5.2
TEST(import_machine, a_root_by_another_key_or_for_another_did_is_refused) {
  const auto repo = repo_with({"app.test.a/1"});
  const test_repo other{2};
  fetch by_key{repo};
  by_key.order.key = other.key().public_part();
  EXPECT_EQ(by_key.feed(repo.export_car()).error().code,
            ec::verification_failed);
  fetch by_did{repo};
  by_did.order.repo = other.did();
  EXPECT_EQ(by_did.feed(repo.export_car()).error().code,
            ec::verification_failed);
}

// protocol-coverage.md 5.3: a stale mirror; the same rev again is accepted
TEST(import_machine, a_root_older_than_what_is_held_is_refused) {
  const auto repo = repo_with({"app.test.a/1"});
  for (const uint64_t ahead : {0, 1}) {
    fetch x{repo};
    auto base = std::make_shared<storage::chain_row>();
    base->rev = atproto::tid{repo.rev().value() + ahead};
    x.order.base = base;
    const auto out = x.feed(repo.export_car());
    EXPECT_EQ(out.has_value(), ahead == 0);
    if (!out) {
      EXPECT_EQ(out.error().code, ec::chain_broken);
      EXPECT_NE(out.error().context.find("restored from a backup"),
                std::string::npos)
        << out.error().context;
    }
  }
}

// protocol-coverage.md 5.3: a mirror does not have the commit of an event yet
TEST(import_machine, a_root_older_than_the_event_that_led_to_it_is_refused) {
  const auto repo = repo_with({"app.test.a/1"});
  for (const uint64_t ahead : {0, 1}) {
    fetch x{repo};
    x.order.least = atproto::tid{repo.rev().value() + ahead};
    const auto out = x.feed(repo.export_car());
    EXPECT_EQ(out.has_value(), ahead == 0);
    if (!out) {
      EXPECT_EQ(out.error().code, ec::chain_broken);
    }
  }
}

// protocol-coverage.md 5.1: the body was cut off
TEST(import_machine, a_body_that_was_cut_is_refused) {
  const auto repo = repo_with({"app.test.a/1", "app.test.a/2"});
  auto car = repo.export_car();
  car.pop_back();
  fetch x{repo};
  EXPECT_FALSE(x.feed(car));
}

// protocol-coverage.md 2.4, 5.4: a record with an invalid block keeps its place
TEST(import_machine, an_undecodable_record_comes_without_its_body) {
  auto repo = repo_with({"app.test.a/1"});
  repo.put("app.test.a/2", bytes{0x01}); // A number, not a record.
  repo.commit();
  fetch x{repo};
  ASSERT_TRUE(x.feed(repo.export_car()));
  ASSERT_TRUE(x.run());
  ASSERT_EQ(x.ops().size(), 2u);
  const auto& op = x.chunks.at(0).at(1);
  EXPECT_TRUE(op.undecodable);
  EXPECT_TRUE(op.content.empty());
  EXPECT_EQ(op.id, repo.records().at("app.test.a/2"));
}

// The interface: a step needs a complete body
TEST(import_machine, a_step_before_the_end_of_the_body_is_refused) {
  const auto repo = repo_with({"app.test.a/1"});
  fetch x{repo};
  x.make();
  EXPECT_EQ(x.machine->step(1).error().code, ec::invalid_argument);
}

} // namespace
} // namespace weir::tests
