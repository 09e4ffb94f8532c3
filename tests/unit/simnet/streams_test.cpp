#include "tests/unit/simnet/servers_fixture.hpp"

// subscribeRepos and the remote control over real sockets.

namespace weir::tests {

namespace {

using simnet::fault;
using simnet::fault_kind;

class StreamsTest : public ServersFixture {
protected:
  int64_t newest() { return net.truth().relay_log()->newest(); }
};

int64_t seq_of(const atproto::frame_event& x) {
  return std::visit(
    [](const auto& y) {
      if constexpr (requires { y.seq; })
        return y.seq;
      else
        return int64_t{0};
    },
    x);
}

} // namespace

TEST_F(StreamsTest, AStreamWithoutCursorStartsNow) {
  net.traffic().make(5);
  auto x = subscribe(urls.relay);
  // The server knows its client once the client is counted.
  const auto deadline = system_clock().steady_now() + patience;
  while (net.truth().relay_log()->subscribers() == 0)
    ASSERT_LT(system_clock().steady_now(), deadline);
  net.traffic().make(3);
  for (int64_t i = 6; i <= 8; ++i)
    EXPECT_EQ(seq_of(x.next()), i);
}

// protocol-coverage.md 11.1
TEST_F(StreamsTest, ACursorGivesWhatIsBehindItAndThenTheNews) {
  net.traffic().make(300);
  auto x = subscribe(urls.relay, "?cursor=250");
  for (int64_t i = 251; i <= 300; ++i)
    ASSERT_EQ(seq_of(x.next()), i);
  net.traffic().make(50);
  for (int64_t i = 301; i <= 350; ++i)
    ASSERT_EQ(seq_of(x.next()), i);
}

TEST_F(StreamsTest, CursorZeroAndBelowMeansTheOldest) {
  net.traffic().make(3);
  EXPECT_EQ(seq_of(subscribe(urls.relay, "?cursor=0").next()), 1);
  EXPECT_EQ(seq_of(subscribe(urls.relay, "?cursor=-1").next()), 1);
}

TEST_F(StreamsTest, ACursorBeyondTheNewestIsRefusedWithAFrameAndAClose) {
  auto x = subscribe(urls.relay, "?cursor=1000");
  EXPECT_EQ(std::get<atproto::error_event>(x.next()).name, "FutureCursor");
  const auto end = x.ear->closed.pop();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->close_code, 1008);
  EXPECT_EQ(end->close_text, "FutureCursor");
}

TEST_F(StreamsTest, ACursorThatIsNoNumberIsAnInvalidRequest) {
  auto x = subscribe(urls.hosts[0], "?cursor=abc");
  EXPECT_EQ(std::get<atproto::error_event>(x.next()).name, "InvalidRequest");
  const auto end = x.ear->closed.pop();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->close_code, 1008);
}

TEST_F(StreamsTest, APassedWindowIsAnnouncedBeforeTheOldestFrame) {
  fault lose;
  lose.kind = fault_kind::lose_window;
  lose.count = 4;
  ASSERT_TRUE(net.faults().inject(lose));
  net.traffic().make(1);
  auto x = subscribe(urls.relay, "?cursor=1");
  EXPECT_EQ(std::get<atproto::info_event>(x.next()).name, "OutdatedCursor");
  EXPECT_EQ(seq_of(x.next()), 5);
  auto y = subscribe(urls.relay, "?cursor=4");
  EXPECT_EQ(seq_of(y.next()), 5);
}

// A connected client that the window passes is told so, instead of missing
// events without a sign.
TEST_F(StreamsTest, AClientThatTheWindowPassesIsTooSlow) {
  net.traffic().make(1);
  auto x = subscribe(urls.relay, "?cursor=0");
  EXPECT_EQ(seq_of(x.next()), 1);
  auto& log = *net.truth().relay_log();
  log.begin_loss(simnet::event_log::loss::gone);
  net.traffic().make(3);
  log.end_loss(true);
  net.traffic().make(1);
  EXPECT_EQ(std::get<atproto::error_event>(x.next()).name, "ConsumerTooSlow");
}

TEST_F(StreamsTest, ADroppedConnectionEndsWithoutACloseFrame) {
  auto x = subscribe(urls.relay, "?cursor=0");
  net.traffic().make(1);
  EXPECT_EQ(seq_of(x.next()), 1);
  fault drop;
  drop.kind = fault_kind::drop_connection;
  const auto done = net.faults().inject(drop);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->count, 1u);
  const auto end = x.ear->closed.pop();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->close_code, 0);
  EXPECT_EQ(end->reason.code, ec::unreachable);
}

TEST_F(StreamsTest, ARestartCutsAndThenRefusesTheOldCursor) {
  net.traffic().make(7);
  auto x = subscribe(urls.relay, "?cursor=6");
  EXPECT_EQ(seq_of(x.next()), 7);
  fault restart;
  restart.kind = fault_kind::restart_sequence;
  ASSERT_TRUE(net.faults().inject(restart));
  EXPECT_TRUE(x.ear->closed.pop());
  auto y = subscribe(urls.relay, "?cursor=7");
  EXPECT_EQ(std::get<atproto::error_event>(y.next()).name, "FutureCursor");
}

TEST_F(StreamsTest, EachHostStreamsItsOwnAccounts) {
  net.traffic().make(200);
  for (size_t host = 0; host < urls.hosts.size(); ++host) {
    auto x = subscribe(urls.hosts[host], "?cursor=0");
    const auto n = net.truth().host_log(host).newest();
    ASSERT_GT(n, 0);
    for (int64_t i = 1; i <= n; ++i) {
      const auto event = x.next();
      ASSERT_EQ(seq_of(event), i);
      if (const auto* commit = std::get_if<atproto::commit_event>(&event)) {
        const auto index = net.truth().find(commit->repo.str()).value();
        EXPECT_EQ(view(index).host, host);
      }
    }
  }
}

TEST_F(StreamsTest, LiveTrafficKeepsItsRate) {
  auto x = subscribe(urls.relay, "?cursor=0");
  const auto start = system_clock().steady_now();
  net.set_rate(400);
  for (int64_t i = 1; i <= 200; ++i)
    ASSERT_EQ(seq_of(x.next()), i);
  const auto took = system_clock().steady_now() - start;
  EXPECT_GE(took, std::chrono::milliseconds{450});
  net.set_rate(0);
}

TEST_F(StreamsTest, TheRemoteControlInjectsAndReports) {
  const auto did = view(2).id.str();
  const auto done = json_of(post(
    urls.control + "/fault", R"({"kind":"take_down","did":")" + did + "\"}"));
  EXPECT_EQ(done.at("kind").as_string(), "take_down");
  EXPECT_EQ(done.at("dids").as_array()[0].as_string(), did);
  EXPECT_EQ(post(urls.control + "/fault", R"({"kind":"flood"})").status, 400);
  EXPECT_EQ(post(urls.control + "/fault", "[]").status, 400);
  EXPECT_EQ(
    post(urls.control + "/fault", R"({"kind":"drop_connection","host":"x"})")
      .status,
    400);
  EXPECT_EQ(
    post(urls.control + "/fault", R"({"kind":"drop_connection","host":1})")
      .status,
    200);
  EXPECT_EQ(json_of(post(urls.control + "/commits", R"({"count":25})"))
              .at("made")
              .as_int64(),
            25);
  const auto stats = json_of(get(urls.control + "/stats"));
  EXPECT_EQ(stats.at("injected").at("take_down").as_int64(), 1);
  EXPECT_EQ(stats.at("traffic").at("events").as_int64(), 25);
  EXPECT_EQ(stats.at("relay").at("seq").as_int64(), newest());
  const auto ledger = json_of(get(urls.control + "/ledger"));
  EXPECT_EQ(ledger.at("faults").as_array().size(), 2u);
}

TEST_F(StreamsTest, TheRemoteControlMakesAccountsAndCommitsOfOne) {
  const auto made = json_of(post(urls.control + "/accounts", R"({"count":2})"));
  ASSERT_EQ(made.at("dids").as_array().size(), 2u);
  const std::string did{made.at("dids").as_array()[1].as_string()};
  post(urls.control + "/commits", R"({"count":3,"did":")" + did + "\"}");
  const auto account = json_of(get(urls.control + "/truth?did=" + did));
  EXPECT_EQ(account.at("records").as_object().size(), 4u);
}

TEST_F(StreamsTest, TheTruthIsToldInPages) {
  std::map<std::string, copy> told;
  for (std::string cursor; told.size() < 100;) {
    const auto page = json_of(get(urls.control + "/truth?limit=5" + cursor));
    for (const auto& x : page.at("accounts").as_array()) {
      auto& mine = told[std::string{x.at("did").as_string()}];
      mine.rev
        = atproto::tid::parse(std::string{x.at("rev").as_string()}).value();
      mine.data = atproto::cid::from_text(std::string{x.at("data").as_string()})
                    .value();
      for (const auto& [path, id] : x.at("records").as_object())
        mine.records[path]
          = atproto::cid::from_text(std::string{id.as_string()}).value();
    }
    if (!page.contains("cursor"))
      break;
    cursor = "&cursor=" + std::string{page.at("cursor").as_string()};
  }
  EXPECT_EQ(told, expected_copies(net.truth()));
}

TEST_F(StreamsTest, AStreamRepeatsItsLastEvents) {
  net.traffic().make(5);
  auto x = subscribe(urls.relay, "?cursor=0");
  for (int64_t i = 1; i <= 5; ++i)
    ASSERT_EQ(seq_of(x.next()), i);
  fault again;
  again.kind = fault_kind::repeat_events;
  again.count = 2;
  ASSERT_TRUE(net.faults().inject(again));
  EXPECT_EQ(seq_of(x.next()), 4);
  EXPECT_EQ(seq_of(x.next()), 5);
  net.traffic().make(1);
  EXPECT_EQ(seq_of(x.next()), 6);
}

TEST_F(StreamsTest, AStreamHoldsEventsBackAndBringsThemLate) {
  net.traffic().make(2);
  auto x = subscribe(urls.relay, "?cursor=0");
  EXPECT_EQ(seq_of(x.next()), 1);
  EXPECT_EQ(seq_of(x.next()), 2);
  fault late;
  late.kind = fault_kind::delay_stream;
  ASSERT_TRUE(net.faults().inject(late));
  net.traffic().make(2);
  EXPECT_EQ(seq_of(subscribe(urls.relay, "?cursor=1").next()), 2);
  late.count = 0;
  ASSERT_TRUE(net.faults().inject(late));
  EXPECT_EQ(seq_of(x.next()), 3);
  EXPECT_EQ(seq_of(x.next()), 4);
}

} // namespace weir::tests
