#include "tests/unit/simnet/mirror.hpp"

#include "atproto/repo_walk.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <variant>

namespace weir::tests {

namespace {

atproto::public_key key_of(const simnet::account_view& x) {
  return atproto::public_key::from_multikey(x.signing_key).value();
}

} // namespace

simnet::network_options small_network(const clock& time, size_t accounts,
                                      uint64_t records) {
  simnet::network_options out;
  out.population.accounts = accounts;
  out.population.records = records;
  out.population.p256_per_thousand = 200;
  out.time = &time;
  return out;
}

void PrintTo(const copy& x, std::ostream* out) {
  *out << "rev " << x.rev.str() << ", " << x.records.size() << " records";
}

mirror::mirror(const simnet::truth& source, wall_time now)
  : source_(source), now_(now) {
  // nop
}

void mirror::fetch(size_t index) {
  const auto account = source_.view(index);
  const auto store = atproto::make_memory_spool(1u << 28);
  const auto overflow = atproto::make_memory_spool(1u << 28);
  atproto::repo_walk walk{account.id, *store, *overflow};
  ASSERT_TRUE(walk.feed(source_.export_car(index).view()));
  const auto root = walk.finish(key_of(account), now_);
  ASSERT_TRUE(root) << root.error().reason;
  copy out{root->rev, root->data, {}};
  for (auto done = false; !done;) {
    const auto step = walk.step(1000, [&](const atproto::walked_record& x) {
      out.records.emplace(x.path, x.id);
    });
    ASSERT_TRUE(step) << to_string(step.error());
    done = *step;
  }
  copies_[account.id.str()] = std::move(out);
}

void mirror::fetch_all() {
  for (size_t i = 0; i < source_.accounts(); ++i)
    fetch(i);
}

void mirror::follow(const simnet::event_log& log) {
  for (auto& cursor = cursors_[&log];;) {
    const auto page = log.read(cursor, 100, 1u << 20);
    if (page.empty())
      return;
    for (const auto& x : page) {
      ASSERT_GT(x.seq, cursor);
      cursor = x.seq;
      apply(x.frame);
      if (testing::Test::HasFatalFailure())
        return;
    }
  }
}

void mirror::apply(const shared_bytes& frame) {
  const auto decoded = atproto::decode_frame(frame.view());
  ASSERT_TRUE(decoded) << to_string(decoded.error());
  const auto* event = std::get_if<atproto::commit_event>(&*decoded);
  if (!event)
    return;
  const auto account = source_.view(source_.find(event->repo.str()).value());
  const auto made
    = atproto::verify_commit(frame, *event, key_of(account), now_);
  ASSERT_TRUE(made) << made.error().reason;
  ++commits_;
  auto& mine = copies_[event->repo.str()];
  ASSERT_EQ(made->prev_data, mine.data);
  ASSERT_EQ(made->since.value_or(atproto::tid{}), mine.rev);
  mine.rev = made->rev;
  mine.data = made->data;
  for (const auto& op : made->ops) {
    const auto path = op.collection + "/" + op.rkey;
    const auto at = mine.records.find(path);
    ASSERT_EQ(at == mine.records.end() ? atproto::cid{} : at->second, op.prev);
    if (op.action == atproto::op_action::remove)
      mine.records.erase(at);
    else
      mine.records[path] = op.id;
  }
}

std::map<std::string, copy> expected_copies(const simnet::truth& source) {
  std::map<std::string, copy> out;
  for (const auto& x : source.expected()) {
    auto& mine = out[x.account.id.str()];
    mine.rev = x.account.rev;
    mine.data = x.account.data;
    for (const auto& item : x.records)
      mine.records.emplace(item.path, item.id);
  }
  return out;
}

heard listen(const simnet::event_log& log, int64_t cursor) {
  constexpr auto all = std::numeric_limits<size_t>::max();
  heard out;
  out.frames = log.read(cursor, all, all);
  for (const auto& x : out.frames)
    out.events.push_back(atproto::decode_frame(x.frame.view()).value());
  return out;
}

} // namespace weir::tests
