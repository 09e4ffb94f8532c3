#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "base/limits.hpp"
#include "net/limits.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <list>

namespace weir::tests {
namespace {
namespace ws_code = net::ws_code;
using net::ws_opcode;

/// A frame of an undefined type; only its seq has an effect.
bytes strange_frame(int64_t seq, size_t padding = 0) {
  atproto::cbor::writer out;
  out.begin_map(2).put_text("t").put_text("#strange");
  out.put_text("op").put_int(1);
  out.begin_map(2).put_text("pad").put_bytes(bytes(padding));
  out.put_text("seq").put_int(seq);
  return out.take();
}

/// Such a frame of exactly this many bytes.
bytes sized_frame(int64_t seq, size_t size) {
  return strange_frame(seq, size - strange_frame(seq, size).size() + size);
}

/// Such a frame with one more field.
bytes frame_with(int64_t seq, const std::string& key, bytes_view value) {
  atproto::cbor::writer out;
  out.begin_map(2).put_text("t").put_text("#strange");
  out.put_text("op").put_int(1);
  out.begin_map(2).put_text("seq").put_int(seq);
  return out.put_text(key).put_raw(value).take();
}

/// The map around the value counts.
bytes deep_frame(int64_t seq, size_t depth) {
  bytes value(depth - 2, 0x81);
  value.push_back(0x80);
  return frame_with(seq, "more", value);
}

bytes wide_frame(int64_t seq, size_t elements) {
  auto value = atproto::cbor::writer{}.begin_array(elements).take();
  value.resize(value.size() + elements, 0);
  return frame_with(seq, "more", value);
}

bytes long_key_frame(int64_t seq, size_t key_bytes) {
  return frame_with(seq, std::string(key_bytes, 'k'), bytes{0xf6});
}

/// Upstreams that misbehave, each on a host of its own, and an honest one.
class HostileStreamTest : public ::testing::Test {
protected:
  struct upstream {
    hostile_stream stream;
    hostile_host host;
  };

  HostileStreamTest() {
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    honest.host.publish_and_serve(repo);
  }

  upstream& open() {
    auto& x = all.emplace_back();
    x.host.on("/xrpc/com.atproto.sync.subscribeRepos", x.stream.script());
    return x;
  }

  void start(std::vector<std::string> more = {}) {
    std::vector<std::string> urls;
    for (const auto& x : all)
      urls.push_back("relay:" + x.host.url());
    node = std::make_unique<hostile_node>(urls, honest.host.url(),
                                          std::move(more));
    before = node->resident_bytes();
    node->add({repo.did()});
    node->await(repo.did(), "synced");
  }

  std::string metric(const char* name, const upstream& of) const {
    return std::string{name} + "{upstream=\"" + of.host.url() + "\"}";
  }

  static void send(upstream& to, const std::vector<int64_t>& seqs) {
    for (const auto seq : seqs)
      to.stream.send(strange_frame(seq));
  }

  /// Waits until everything up to this seq was taken, and nothing above it.
  bool await_cursor(const upstream& of, int64_t seq) {
    return eventually(node_patience, [&] {
      return node->metric(metric("weir_upstream_cursor", of))
             == static_cast<uint64_t>(seq);
    });
  }

  /// Expects that the honest upstream still works and memory did not grow.
  void expect_others_flow(size_t bytes_max) {
    repo.put("app.test.note/later", make_record("two"));
    ASSERT_TRUE(honest.stream.send(repo.commit()));
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node->repo(repo.did()).rev == repo.rev().str();
    }));
    EXPECT_TRUE(node->is_healthy());
    EXPECT_LT(node->peak_bytes(), before + bytes_max + memory_slack);
  }

  std::list<upstream> all;
  upstream& honest = open();
  live_repo repo{1};
  std::unique_ptr<hostile_node> node;
  size_t before = 0;
};

} // namespace

// hostile-inputs.md 2.1.1: limits::frame_bytes_max
TEST_F(HostileStreamTest, AMessageAtTheLimitIsTakenAndOneMoreByteIsNot) {
  auto& large = open();
  auto& fragments = open();
  auto& declared = open();
  start();
  ASSERT_TRUE(large.stream.send(sized_frame(5, limits::frame_bytes_max)));
  EXPECT_TRUE(await_cursor(large, 5));
  large.stream.send(sized_frame(6, limits::frame_bytes_max + 1));
  EXPECT_EQ(large.stream.ends.pop(), ws_code::too_big);
  // The fragments are small.
  auto first = net::ws_frame(ws_opcode::binary, bytes(100'000));
  auto next = net::ws_frame(ws_opcode::continuation, bytes(100'000));
  first[0] &= 0x7f; // Without FIN.
  next[0] &= 0x7f;
  fragments.stream.send_raw(first);
  for (size_t i = 0; i < limits::frame_bytes_max / 100'000; ++i)
    fragments.stream.send_raw(next);
  EXPECT_EQ(fragments.stream.ends.pop(), ws_code::too_big);
  declared.stream.send_raw(
    bytes{0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
  EXPECT_EQ(declared.stream.ends.pop(), ws_code::too_big);
  expect_others_flow(16 * megabyte);
}

// hostile-inputs.md 2.1.22: limits::ws_client_idle_timeout. Neither stream
// sends anything, not even an answer to a ping.
TEST_F(HostileStreamTest, AStreamThatFallsSilentIsOpenedAnew) {
  auto& silent = open();
  start();
  for (auto* x : {&silent, &honest})
    ASSERT_TRUE(x->stream.heads.pop(node_patience));
  for (auto* x : {&silent, &honest})
    EXPECT_TRUE(x->stream.heads.pop(limits::ws_client_idle_timeout
                                    + node_patience));
  EXPECT_EQ(silent.stream.ends.pop(), 0u) << "nobody is there to say goodbye";
  expect_others_flow(16 * megabyte);
}

// hostile-inputs.md 2.1.1: only binary messages without compression.
TEST_F(HostileStreamTest, WhatIsNoBinaryMessageEndsTheConnection) {
  const auto with = [](bytes x, size_t at, uint8_t bits) {
    x[at] = static_cast<uint8_t>(x[at] | bits);
    return x;
  };
  const auto plain = net::ws_frame(ws_opcode::binary, strange_frame(1));
  struct trial {
    const char* what;
    bytes wire;
    uint16_t code;
  };
  const std::vector<trial> trials{
    {"text", net::ws_frame(ws_opcode::text, as_bytes("{}")),
     ws_code::unsupported},
    {"compressed", with(plain, 0, 0x40), ws_code::protocol_error},
    {"reserved bit", with(plain, 0, 0x10), ws_code::protocol_error},
    {"unknown opcode", with(plain, 0, 0x01), ws_code::protocol_error},
    {"masked", with(plain, 1, 0x80), ws_code::protocol_error},
    {"lone continuation", net::ws_frame(ws_opcode::continuation, plain),
     ws_code::protocol_error},
    {"long ping", bytes{0x89, 126, 0, 126}, ws_code::protocol_error},
    {"length not minimal", bytes{0x82, 126, 0, 1, 0}, ws_code::protocol_error},
  };
  std::vector<upstream*> opened;
  for (size_t i = 0; i < trials.size(); ++i)
    opened.push_back(&open());
  start();
  for (size_t i = 0; i < trials.size(); ++i) {
    ASSERT_TRUE(opened[i]->stream.send_raw(trials[i].wire));
    EXPECT_EQ(opened[i]->stream.ends.pop(), trials[i].code) << trials[i].what;
  }
  expect_others_flow(32 * megabyte);
}

// hostile-inputs.md 2.1.3, 2.1.4; limits::bad_frame_tries_max: a malformed
// frame ends the connection and is skipped when it comes for the third time.
TEST_F(HostileStreamTest, AFrameThatIsNoneIsSteppedOverAtItsThirdTime) {
  using namespace std::string_literals;
  const auto header = "\xa2\x61t\x67#commit\x62op\x01"s;
  const std::vector<std::string> bombs{
    ""s,
    "\xbb\x30\x30\x30\x30\x30\x30\x30\x30"s,
    header + "\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
    header + "\x5b\xff\xff\xff\xff\xff\xff\xff\xff",
    header + std::string(2'000'000, '\x81'),
    header + "\xa0" + std::string(1'000, '\0'),
    std::string(2'000'000, '\x81'),
  };
  std::vector<upstream*> opened;
  for (const auto& x : bombs) {
    auto& at = *opened.emplace_back(&open());
    at.stream.greeting = net::ws_frame(ws_opcode::binary, as_bytes(x));
    const auto good = net::ws_frame(ws_opcode::binary, strange_frame(7));
    at.stream.greeting.insert(at.stream.greeting.end(), good.begin(),
                              good.end());
  }
  start();
  for (size_t i = 0; i < bombs.size(); ++i) {
    EXPECT_TRUE(await_cursor(*opened[i], 7)) << i;
    EXPECT_EQ(opened[i]->stream.ends.size(), limits::bad_frame_tries_max - 1)
      << i;
  }
  EXPECT_NE(node->log().find("skipped a bad frame"), std::string::npos);
  expect_others_flow(16 * megabyte);
}

// hostile-inputs.md 2.1.3, 2.1.4: limits::frame_depth_max, cbor_container_max,
// cbor_map_key_bytes_max. A frame above one of them is malformed.
TEST_F(HostileStreamTest, FramesAreTakenUpToTheLimitsOfCborAndNotAbove) {
  struct trial {
    bytes (*make)(int64_t seq, size_t size);
    size_t most;
    upstream* within = nullptr;
    upstream* above = nullptr;
  };
  std::vector<trial> trials{{deep_frame, limits::frame_depth_max},
                            {wide_frame, limits::cbor_container_max},
                            {long_key_frame, limits::cbor_map_key_bytes_max}};
  for (auto& x : trials) {
    x.within = &open();
    x.above = &open();
    auto& greeting = x.above->stream.greeting;
    greeting = net::ws_frame(ws_opcode::binary, x.make(5, x.most + 1));
    const auto good = net::ws_frame(ws_opcode::binary, strange_frame(7));
    greeting.insert(greeting.end(), good.begin(), good.end());
  }
  start();
  for (const auto& x : trials) {
    ASSERT_TRUE(x.within->stream.send(x.make(5, x.most)));
    EXPECT_TRUE(await_cursor(*x.within, 5)) << x.most;
    EXPECT_EQ(x.within->stream.ends.size(), 0u) << x.most;
    EXPECT_TRUE(await_cursor(*x.above, 7)) << x.most;
    for (size_t i = 1; i < limits::bad_frame_tries_max; ++i)
      EXPECT_EQ(x.above->stream.ends.pop(), ws_code::normal) << x.most;
    EXPECT_EQ(x.above->stream.ends.size(), 0u) << x.most;
  }
  expect_others_flow(16 * megabyte);
}

// hostile-inputs.md 2.1.32: frames that are finished at once and write a line
// of the log each; limits::infos_per_connection_max
TEST_F(HostileStreamTest, AConnectionHasSoManyInfosAndNotOneMore) {
  constexpr auto most = limits::infos_per_connection_max;
  const auto info = net::ws_frame(
    ws_opcode::binary,
    atproto::encode_frame(atproto::info_event{"Weather", "dull"}));
  const auto good = net::ws_frame(ws_opcode::binary, strange_frame(7));
  auto& within = open();
  auto& above = open();
  for (auto* x : {&within, &above}) {
    auto& greeting = x->stream.greeting;
    for (size_t i = 0; i < (x == &within ? most : most + 1); ++i)
      greeting.insert(greeting.end(), info.begin(), info.end());
    greeting.insert(greeting.end(), good.begin(), good.end());
  }
  start();
  EXPECT_TRUE(await_cursor(within, 7));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(above.stream.ends.pop(), ws_code::normal) << "each time";
  EXPECT_EQ(within.stream.ends.size(), 0u);
  EXPECT_EQ(node->metric(metric("weir_upstream_cursor", above)), 0u);
  expect_others_flow(16 * megabyte);
}

// hostile-inputs.md 2.1.30
TEST_F(HostileStreamTest, NumbersThatDoNotGrowCountForNothing) {
  auto& falling = open();
  auto& repeating = open();
  auto& jumping = open();
  auto& above = open();
  start();
  send(falling, {1'000, 5, 1'001});
  EXPECT_TRUE(await_cursor(falling, 1'001));
  send(falling, std::vector<int64_t>(limits::seq_regressions_max - 1, 6));
  EXPECT_TRUE(falling.stream.ends.pop());
  send(repeating, std::vector<int64_t>(limits::seq_regressions_max + 1, 9));
  EXPECT_TRUE(repeating.stream.ends.pop());
  send(jumping, {1, limits::safe_integer_max});
  EXPECT_TRUE(await_cursor(jumping, limits::safe_integer_max));
  above.stream.send(strange_frame(3));
  EXPECT_TRUE(await_cursor(above, 3));
  send(above, {limits::safe_integer_max + 1, -1, 0, 4});
  EXPECT_TRUE(await_cursor(above, 4));
  EXPECT_EQ(node->metric(metric("weir_upstream_cursor", above)), 4u);
  expect_others_flow(32 * megabyte);
}

// hostile-inputs.md 2.1.23: an upgrade never follows a redirect.
TEST_F(HostileStreamTest, AnUpgradeFollowsNoRedirect) {
  constexpr const char* subscribe = "/xrpc/com.atproto.sync.subscribeRepos";
  hostile_host elsewhere;
  auto& away = open();
  away.host.on(subscribe, say(http_answer(302, {},
                                          "Location: " + elsewhere.url()
                                            + subscribe + "\r\n")));
  start();
  EXPECT_TRUE(eventually(node_patience, [&] { // It asks again.
    return away.host.asked(subscribe) >= 2;
  }));
  EXPECT_EQ(elsewhere.connections(), 0u);
  expect_others_flow(32 * megabyte);
}

// protocol-coverage.md 1.12: what was lost is found by a comparison and
// fetched, although no event tells it.
TEST_F(HostileStreamTest, AnOutdatedCursorMakesWhatWasLostBeFetched) {
  constexpr const char* list_repos = "/xrpc/com.atproto.sync.listRepos";
  start();
  ASSERT_TRUE(honest.stream.send(strange_frame(1)));
  EXPECT_TRUE(await_cursor(honest, 1));
  repo.put("app.test.note/lost", make_record("nobody heard of it"));
  repo.commit();
  honest.host.serve(repo);
  honest.host.on(
    list_repos, say(http_answer(200, R"({"repos":[{"did":")" + repo.did().str()
                                       + R"(","head":")" + repo.data().to_text()
                                       + R"(","rev":")" + repo.rev().str()
                                       + R"(","active":true}]})")));
  const auto listed = honest.host.asked(list_repos);
  ASSERT_TRUE(honest.stream.send(
    atproto::encode_frame(atproto::info_event{"OutdatedCursor", ""})));
  ASSERT_TRUE(honest.stream.send(strange_frame(2)));
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           const auto told = node->repo(repo.did());
                           return told.rev == repo.rev().str()
                                  && told.status == "synced";
                         }))
    << node->log();
  EXPECT_GT(honest.host.asked(list_repos), listed);
  EXPECT_EQ(node->metric(metric("weir_upstream_resets_total", honest)), 1u);
  expect_others_flow(32 * megabyte);
}

// hostile-inputs.md 2.1.31: a new epoch from the oldest event, once.
TEST_F(HostileStreamTest, ACursorThatLiesInTheFutureIsReset) {
  auto& restarted = open();
  start();
  restarted.stream.send(strange_frame(1'000));
  EXPECT_TRUE(await_cursor(restarted, 1'000));
  atproto::error_event future;
  future.name = "FutureCursor";
  restarted.stream.send(atproto::encode_frame(future));
  EXPECT_TRUE(restarted.stream.heads.pop()); // That of the first connection.
  const auto again = restarted.stream.heads.pop();
  ASSERT_TRUE(again);
  EXPECT_NE(again->find("cursor=0"), std::string::npos) << *again;
  EXPECT_EQ(node->metric(metric("weir_upstream_resets_total", restarted)), 1u);
  restarted.stream.send(strange_frame(3));
  EXPECT_TRUE(await_cursor(restarted, 3));
  expect_others_flow(32 * megabyte);
}

// hostile-inputs.md 2.1.30: a seq at the end of the range, and then the former
// ones, from a host that never sends FutureCursor.
TEST_F(HostileStreamTest, AHostThatJumpsAheadAndBackIsFollowedAgain) {
  auto& jumping = open();
  start();
  send(jumping, {1, limits::safe_integer_max});
  EXPECT_TRUE(await_cursor(jumping, limits::safe_integer_max));
  send(jumping, std::vector<int64_t>(limits::seq_regressions_max, 2));
  EXPECT_TRUE(jumping.stream.heads.pop()); // The head of the first connection.
  EXPECT_TRUE(jumping.stream.heads.pop());
  send(jumping, {2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const auto third = jumping.stream.heads.pop();
  ASSERT_TRUE(third);
  EXPECT_NE(third->find("cursor=0"), std::string::npos) << *third;
  jumping.stream.send(strange_frame(20));
  EXPECT_TRUE(await_cursor(jumping, 20));
  // First an event may be missing that came too late, then the seqs begin anew.
  EXPECT_EQ(node->metric(metric("weir_upstream_resets_total", jumping)), 2u);
  expect_others_flow(32 * megabyte);
}

} // namespace weir::tests
