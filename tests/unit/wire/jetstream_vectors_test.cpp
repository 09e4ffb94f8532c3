#include "atproto/verify.hpp"
#include "tests/support/jetstream_corpus.hpp"
#include "tests/support/vectors.hpp"
#include "wire/tap.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>

// Frames of the public network from end to end: decoded, verified, and
// converted to the JSON for clients, which another server also made of them.

namespace weir::tests {

namespace {

namespace json = boost::json;

using namespace atproto;

/// Later than every rev of the capture.
constexpr wall_time now{1'800'000'000'000'000};

std::string text(const json::object& x, std::string_view key) {
  const auto* found = x.if_contains(key);
  return found == nullptr ? "" : json::value_to<std::string>(*found);
}

/// The content of one event in both servers' formats, without the fields that
/// only one of them has.
json::object plain(std::string_view did, std::string_view kind,
                   const json::object& x) {
  json::object out{{"did", did}, {"kind", kind}};
  for (const auto* each : {"rev", "collection", "rkey", "cid", "record", "seq",
                           "time", "handle", "active", "status"})
    if (const auto* found = x.if_contains(each))
      out[each] = *found;
  const auto action = x.if_contains("operation") ? "operation" : "action";
  if (const auto* found = x.if_contains(action))
    out["action"] = *found;
  return out;
}

/// Ordered by the place in the repo, for readers of failures.
using event_map = std::multimap<std::string, json::object>;

std::string place(const json::object& x) {
  return text(x, "did") + ' ' + text(x, "kind") + ' ' + text(x, "rev") + ' '
         + text(x, "collection") + '/' + text(x, "rkey");
}

void enter(event_map& into, json::object x) {
  auto key = place(x);
  into.emplace(std::move(key), std::move(x));
}

event_map read_expected(const std::filesystem::path& folder) {
  event_map out;
  for (const auto& line : read_vector_lines(folder / "expected_v1.jsonl")) {
    const auto x = json::parse(line).as_object();
    const auto kind = text(x, "kind");
    enter(out, plain(text(x, "did"), kind, x.at(kind).as_object()));
  }
  return out;
}

void take_commit(event_map& out, const shared_bytes& frame,
                 const commit_event& event, const public_key& key) {
  const auto done = verify_commit(frame, event, key, now);
  ASSERT_TRUE(done) << done.error().reason;
  for (const auto& op : done->ops) {
    std::string made;
    wire::append_tap_record({1, true, done->repo.str(), done->rev,
                             op.collection, op.rkey, op.action, op.id,
                             op.record.view()},
                            made);
    const auto record = json::parse(made).at("record").as_object();
    enter(out, plain(text(record, "did"), "commit", record));
  }
}

void take_identity(event_map& out, const identity_event& event) {
  json::object x{{"seq", event.seq}, {"time", event.time}};
  if (!event.handle.empty())
    x["handle"] = event.handle;
  enter(out, plain(event.repo.str(), "identity", x));
}

/// Our format has neither its seq nor its time, and has a status for active
/// ones.
void take_account(event_map& out, const account_event& event) {
  std::string made;
  wire::append_tap_identity(
    1, event.repo.str(), {"", event.active, std::string{event.status}}, made);
  const auto fact = json::parse(made).at("identity").as_object();
  json::object x{
    {"seq", event.seq}, {"time", event.time}, {"active", fact.at("is_active")}};
  if (text(fact, "status") != "active")
    x["status"] = fact.at("status");
  enter(out, plain(text(fact, "did"), "account", x));
}

} // namespace

// protocol-coverage.md 6.12
TEST(JetstreamWireTest, FramesBecomeTheJsonThatAnotherServerMade) {
  WEIR_VECTORS(folder, jetstream_corpus);
  const auto keys = read_jetstream_keys(folder);
  event_map made;
  size_t frames = 0;
  for (const auto& frame : read_jetstream_frames(folder)) {
    ++frames;
    const auto event = decode_frame(frame.view()).value();
    if (const auto* x = std::get_if<commit_event>(&event))
      take_commit(made, frame, *x, keys.at(x->repo.str()));
    else if (const auto* hint = std::get_if<identity_event>(&event))
      take_identity(made, *hint);
    else if (const auto* fact = std::get_if<account_event>(&event))
      take_account(made, *fact);
  }
  const auto expected = read_expected(folder);
  EXPECT_EQ(frames, 150u);
  EXPECT_EQ(expected.size(), 152u);
  ASSERT_EQ(made.size(), expected.size());
  auto wanted = expected.begin();
  for (const auto& [where, event] : made)
    EXPECT_EQ(event, (wanted++)->second) << where;
}

} // namespace weir::tests
