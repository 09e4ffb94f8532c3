#include "actors/router/tracking_machine.hpp"
#include "tests/unit/actors/machine_frames.hpp"

#include <gtest/gtest.h>

/// The repos that a stream discovers (SYNC-17 to SYNC-19).
namespace weir::tests {
namespace {

using actors::stream_claims;
using actors::tracking_machine;
using actors::tracking_mode;
using atproto::frame_kind;
using atproto::op_action;

atproto::stamped_frame stamped(shared_bytes bytes, frame_kind kind,
                               const char* repo = nullptr) {
  atproto::stamped_frame out;
  out.kind = kind;
  out.repo = repo != nullptr ? atproto::did::trusted(repo) : test_did();
  out.bytes = std::move(bytes);
  return out;
}

/// A commit with these changes.
atproto::stamped_frame
commit_of(std::vector<std::pair<op_action, std::string_view>> changes,
          const char* repo = nullptr) {
  atproto::commit_event event;
  event.seq = 1;
  event.repo = test_did();
  event.time = frame_time;
  event.rev = atproto::tid{1 << 20};
  const atproto::cid some{atproto::cid::codec_dag_cbor, atproto::digest{}};
  event.commit = some;
  for (const auto& [action, path] : changes) {
    atproto::commit_op op;
    op.action = action;
    op.path = path;
    if (action != op_action::remove)
      op.id = some;
    if (action != op_action::create)
      op.prev = {atproto::cid::codec_dag_cbor, atproto::digest{1}};
    event.ops.push_back(op);
  }
  return stamped(shared_bytes{atproto::encode_frame(event)}, frame_kind::commit,
                 repo);
}

atproto::stamped_frame sync_of() {
  atproto::sync_event event;
  event.seq = 1;
  event.repo = test_did();
  event.time = frame_time;
  event.rev = atproto::tid{1 << 20};
  return stamped(shared_bytes{atproto::encode_frame(event)}, frame_kind::sync);
}

const actors::tracked_repos none_tracked{{}};
const actors::tracked_repos all_tracked{
  {atproto::stable_hash(test_did().str())}};

tracking_machine in_mode(tracking_mode mode) {
  return {mode, wire::collection_filter::parse({"app.test.*"}).value()};
}

TEST(tracking_machine, manual_discovers_nothing) {
  const auto x = in_mode(tracking_mode::manual);
  EXPECT_FALSE(
    x.discovers(commit_of({{op_action::create, "app.test.note/a"}})));
}

// Its host can say whether it has older records.
TEST(tracking_machine, in_signal_mode_an_account_that_is_active_may_return) {
  const auto account = [](bool active, const char* repo = nullptr) {
    atproto::account_event event;
    event.seq = 1;
    event.repo = test_did();
    event.time = frame_time;
    event.active = active;
    return stamped(shared_bytes{atproto::encode_frame(event)},
                   frame_kind::account, repo);
  };
  const auto x = in_mode(tracking_mode::signal);
  EXPECT_TRUE(x.may_return(account(true)));
  EXPECT_FALSE(x.may_return(account(false)));
  EXPECT_FALSE(x.may_return(account(true, "did:key:zabc")));
  EXPECT_FALSE(
    x.may_return(commit_of({{op_action::create, "app.test.note/a"}})));
  EXPECT_FALSE(x.discovers(account(true)));
  auto frame = account(true);
  using step = tracking_machine::step;
  EXPECT_EQ(x.judge(frame, none_tracked), step::ask) << "of a PDS";
  frame.relay = true;
  EXPECT_EQ(x.judge(frame, none_tracked), step::nothing);
  for (const auto mode : {tracking_mode::manual, tracking_mode::full_network})
    EXPECT_FALSE(in_mode(mode).may_return(account(true)));
}

// protocol-coverage.md 3.6: a #sync shows that a repo exists, not its content
TEST(tracking_machine, the_full_network_is_whoever_speaks) {
  const auto x = in_mode(tracking_mode::full_network);
  EXPECT_TRUE(x.discovers(commit_of({{op_action::remove, "app.other/a"}})));
  EXPECT_TRUE(x.discovers(stamped(account_frame(1), frame_kind::account)));
  EXPECT_TRUE(x.discovers(stamped(identity_frame(1), frame_kind::identity)));
  EXPECT_TRUE(x.discovers(sync_of()));
  for (const auto mode : {tracking_mode::manual, tracking_mode::signal})
    EXPECT_FALSE(in_mode(mode).discovers(sync_of()));
  EXPECT_FALSE(x.discovers(
    stamped(account_frame(1), frame_kind::account, "did:key:zQ3sh")));
}

// ADR 10: what a stream names
TEST(tracking_machine, only_what_a_relay_names_is_a_repo_at_once) {
  auto x = commit_of({{op_action::create, "app.test.note/a"}});
  using step = tracking_machine::step;
  const auto step_in = [&x](tracking_mode mode) {
    return in_mode(mode).judge(x, none_tracked);
  };
  EXPECT_EQ(step_in(tracking_mode::full_network), step::claim) << "of a PDS";
  EXPECT_EQ(step_in(tracking_mode::signal), step::claim);
  EXPECT_EQ(step_in(tracking_mode::manual), step::nothing);
  x.relay = true;
  EXPECT_EQ(step_in(tracking_mode::full_network), step::add);
  EXPECT_EQ(step_in(tracking_mode::signal), step::add);
  EXPECT_EQ(step_in(tracking_mode::manual), step::nothing);
}

TEST(tracking_machine, a_frame_of_a_tracked_repo_is_delivered_in_every_mode) {
  using step = tracking_machine::step;
  stream_claims claims;
  const auto x = sync_of();
  claims.claim(x, {});
  for (const auto mode : {tracking_mode::manual, tracking_mode::signal,
                          tracking_mode::full_network})
    EXPECT_EQ(in_mode(mode).judge(x, all_tracked, &claims), step::deliver);
}

// A claim summarizes its frames, which are finished at once.
TEST(tracking_machine, a_frame_of_a_claimed_repo_goes_to_its_claim_alone) {
  using step = tracking_machine::step;
  const auto x = in_mode(tracking_mode::full_network);
  stream_claims claims;
  auto frame = sync_of();
  EXPECT_EQ(x.judge(frame, none_tracked, &claims), step::claim);
  claims.claim(frame, {});
  EXPECT_EQ(x.judge(frame, none_tracked), step::claim) << "only looked at";
  const auto rename = stamped(identity_frame(1), frame_kind::identity);
  EXPECT_EQ(x.judge(rename, none_tracked, &claims), step::nothing);
  EXPECT_TRUE(claims.forget(test_did())) << "the claim has read it";
  claims.claim(frame, {});
  frame.relay = true;
  EXPECT_EQ(x.judge(frame, none_tracked, &claims), step::add) << "of a relay";
}

TEST(tracking_machine, a_repo_gets_what_is_delivered_and_what_added_it) {
  using step = tracking_machine::step;
  EXPECT_TRUE(tracking_machine::is_for_repo(step::deliver));
  EXPECT_TRUE(tracking_machine::is_for_repo(step::add));
  for (const auto x :
       {step::nothing, step::add_only, step::claim, step::ask})
    EXPECT_FALSE(tracking_machine::is_for_repo(x));
}

TEST(tracking_machine, a_line_about_a_new_repo_is_news_if_it_is_inactive) {
  using step = tracking_machine::step;
  repo_listed line;
  line.repo = test_did();
  EXPECT_EQ(tracking_machine::judge(line, all_tracked, false), step::deliver);
  EXPECT_EQ(tracking_machine::judge(line, all_tracked, true), step::deliver);
  EXPECT_EQ(tracking_machine::judge(line, none_tracked, true), step::add_only);
  line.account = storage::account_status::deactivated;
  EXPECT_EQ(tracking_machine::judge(line, none_tracked, true), step::add);
  EXPECT_EQ(tracking_machine::judge(line, none_tracked, false), step::nothing);
}

TEST(tracking_machine, a_record_of_the_signal_collection_is_the_signal) {
  const auto x = in_mode(tracking_mode::signal);
  EXPECT_TRUE(x.discovers(commit_of({{op_action::create, "app.test.note/a"}})));
  EXPECT_TRUE(x.discovers(commit_of({{op_action::create, "app.other.x/a"},
                                     {op_action::update, "app.test.note/b"}})));
  EXPECT_FALSE(x.discovers(commit_of({{op_action::create, "app.other.x/a"}})));
  EXPECT_FALSE(
    x.discovers(commit_of({{op_action::remove, "app.test.note/a"}})));
  EXPECT_FALSE(x.discovers(commit_of({{op_action::create, "app.test.note"}})));
  EXPECT_FALSE(x.discovers(commit_of({})));
  EXPECT_FALSE(x.discovers(
    commit_of({{op_action::create, "app.test.note/a"}}, "did:key:zQ3sh")));
  EXPECT_FALSE(x.discovers(stamped(account_frame(1), frame_kind::account)));
}

TEST(tracking_machine, a_frame_that_cannot_be_read_is_no_signal) {
  const auto x = in_mode(tracking_mode::signal);
  EXPECT_FALSE(
    x.discovers(stamped(shared_bytes{bytes{0xff}}, frame_kind::commit)));
}

} // namespace
} // namespace weir::tests
