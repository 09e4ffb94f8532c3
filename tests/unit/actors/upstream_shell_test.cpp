#include "actors/support/limits_health.hpp"
#include "actors/upstream/limits.hpp"
#include "actors/upstream/upstream.hpp"
#include "messages/backfill.hpp"
#include "messages/journal.hpp"
#include "tests/unit/actors/machine_frames.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// architecture.md, The stages: between a socket and the shards.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;

class scripted_socket final : public stream_socket {
public:
  void grant(size_t frames, size_t bytes) override {
    grants.emplace_back(frames, bytes);
    frames_left += frames;
    bytes_left += static_cast<int64_t>(bytes);
  }

  bool is_read() const override { return frames_left > 0 && bytes_left > 0; }

  /// Delivers a message if the socket is read.
  bool read(const shared_bytes& frame) {
    if (!is_read())
      return false;
    --frames_left;
    bytes_left -= static_cast<int64_t>(frame.size());
    return true;
  }

  void close() override { closed = true; }

  std::vector<std::pair<size_t, size_t>> grants;
  size_t frames_left = 0;
  int64_t bytes_left = 0; ///< The last message may overdraw them.
  bool closed = false;
};

class UpstreamShellTest : public ShellFixture {
protected:
  UpstreamShellTest() {
    home->journal = journal.as<journal_actor>();
    shared->supervisor = supervisor.as<supervisor_actor>();
    shared->add_router(router.as<router_actor>());
    start({});
  }

  void start(upstream_options options) {
    storage::upstream_row row;
    row.id = 7;
    row.url = "https://relay.test";
    row.cursor = 10;
    row.first_cursor = 1;
    sockets.clear();
    const auto spawned
      = spawn_upstream(sys, shared, row, options,
                     [this](const std::string&, std::optional<uint64_t> cursor,
                            uint64_t, const upstream_actor& self) {
                       known = shared->upstream(7) == self;
                       cursors.push_back(cursor.value_or(0));
                       sockets.push_back(std::make_shared<scripted_socket>());
                       return sockets.back();
                     });
    // It must be known then, so that a stop of the node reaches it.
    EXPECT_TRUE(shared->upstream(7) == spawned);
    upstream = keep(spawned);
  }

  void frames(int64_t from, size_t count) {
    stream_frames x{sockets.size(), {}};
    for (size_t i = 0; i < count; ++i)
      x.frames.push_back(account_frame(from + static_cast<int64_t>(i)));
    tell(upstream, std::move(x));
  }

  probe journal{sys};
  probe supervisor{sys};
  probe router{sys};
  std::vector<std::shared_ptr<scripted_socket>> sockets;
  std::vector<uint64_t> cursors;
  bool known = false; ///< The other actors had it when it connected.
  upstream_actor upstream;
};

/// A window that takes four of these frames, or one and a part of a larger one.
upstream_options narrow(size_t events_per_second) {
  upstream_options out;
  out.frames_max = 64;
  out.bytes_max = 4 * account_frame(11).size();
  out.events_per_second = events_per_second;
  return out;
}

} // namespace

// Otherwise no shard could report its first frames as finished, and its cursor
// would not move.
TEST_F(UpstreamShellTest, OthersKnowItBeforeItsFirstFrameCanCome) {
  run();
  ASSERT_EQ(cursors.size(), 1u);
  EXPECT_TRUE(known);
}

// limits::frame_batch_max
TEST_F(UpstreamShellTest, FramesReachTheShardsInBatchesOfSoMany) {
  tell(upstream, stream_opened{1});
  frames(11, limits::frame_batch_max + 1);
  const auto batches = router.take<frame_batch>();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].frames.size(), limits::frame_batch_max);
  ASSERT_EQ(batches[1].frames.size(), 1u);
  EXPECT_EQ(batches[1].frames[0].at.seq, 11 + limits::frame_batch_max);
}

// limits::upstream_frames_max, limits::upstream_bytes_max
TEST_F(UpstreamShellTest, TheSocketIsGivenTheWindowAndNothingMoreUntilDone) {
  tell(upstream, stream_opened{1});
  EXPECT_THAT(sockets[0]->grants,
              ElementsAre(std::pair{limits::upstream_frames_max,
                                    limits::upstream_bytes_max}));
  frames(11, limits::upstream_frames_max);
  EXPECT_EQ(sockets[0]->grants.size(), 1u);
  EXPECT_GE(shared->memory->held(memory_use::streams),
            limits::upstream_frames_max * account_frame(11).size());
  std::vector<uint64_t> all;
  for (uint64_t seq = 11; seq < 11 + limits::upstream_frames_max; ++seq)
    all.push_back(seq);
  tell(upstream, frames_done{1, std::move(all)});
  size_t again = 0;
  for (size_t i = 1; i < sockets[0]->grants.size(); ++i)
    again += sockets[0]->grants[i].first;
  EXPECT_EQ(again, limits::upstream_frames_max);
  EXPECT_EQ(shared->memory->total(), 0u);
}

// actors.md, What a stream may deliver: a socket without a reason to wait has
// credit. Sixty times the window in bytes comes through, at the rate.
TEST_F(UpstreamShellTest, AThrottledStreamNeverRunsOutOfBytes) {
  constexpr int64_t rate = 10;
  start(narrow(rate));
  tell(upstream, stream_opened{1});
  int64_t seq = 11;
  for (int64_t tenth = 0; tenth < 240; ++tenth) {
    while (sockets[0]->read(account_frame(seq))) {
      frames(seq, 1);
      tell(upstream, frames_done{1, {static_cast<uint64_t>(seq++)}});
    }
    pass(100ms);
  }
  EXPECT_GE(seq - 11, 24 * rate);
  EXPECT_EQ(sockets.size(), 1u);
}

/// It has connected after this time, whatever was drawn.
std::chrono::microseconds longest(std::chrono::microseconds wait) {
  return wait + wait / limits::upstream_jitter_part;
}

// limits::credit_stall_max: applies whatever caused the difference.
TEST_F(UpstreamShellTest, ASocketThatIsNotReadForTooLongIsDialledAnew) {
  tell(upstream, stream_opened{1});
  auto& lame = *sockets[0];
  lame.bytes_left = 0;
  pass(limits::cursor_write_interval); // This is the first check.
  EXPECT_FALSE(shared->upstreams.find(7).quiet_since);
  pass(limits::credit_stall_max - 1us);
  EXPECT_FALSE(lame.closed);
  pass(limits::cursor_write_interval);
  EXPECT_TRUE(lame.closed);
  tell(upstream, stream_closed{1, fail(ec::cancelled), 0, 0s});
  EXPECT_FALSE(shared->upstreams.find(7).connected);
  pass(longest(limits::upstream_backoff_min));
  ASSERT_EQ(sockets.size(), 2u);
  EXPECT_EQ(cursors.back(), 10u);
  EXPECT_FALSE(shared->upstreams.find(7).stalls);
  tell(upstream, stream_opened{2});
  sockets[1]->bytes_left = 0;
  pass(limits::cursor_write_interval);
  pass(limits::credit_stall_max);
  EXPECT_TRUE(sockets[1]->closed);
  tell(upstream, stream_closed{2, fail(ec::cancelled), 0, 0s});
  EXPECT_TRUE(shared->upstreams.find(7).stalls) << "nor did another mend it";
  EXPECT_THAT(shared->upstreams.find(7).last_error,
              testing::HasSubstr("is not read"));
  EXPECT_EQ(shared->metrics
              .counter("weir_upstream_stalls_total", {}, "upstream",
                       shared->upstreams.find(7).origin)
              .value(),
            2u);
}

// The reason is the host's behaviour, not that the node ended the connection.
TEST_F(UpstreamShellTest, WhyItIsNotConnectedIsWhatMadeUsHangUp) {
  tell(upstream, stream_opened{1});
  stream_frames x{1, {}};
  x.frames.push_back(error_frame("Blocked"));
  tell(upstream, std::move(x));
  EXPECT_TRUE(sockets[0]->closed);
  tell(upstream, stream_closed{1, fail(ec::cancelled, "closed by us"), 0, 0s});
  EXPECT_EQ(shared->upstreams.find(7).last_error, "stream error: Blocked");
  pass(longest(limits::upstream_backoff_min));
  tell(upstream, stream_closed{2, fail(ec::unreachable, "refused"), 0, 0s});
  EXPECT_EQ(shared->upstreams.find(7).last_error, "unreachable: refused");
}

// limits::health_rest_min
TEST_F(UpstreamShellTest, AHostThatAsksForALongRestIsToldOf) {
  const auto ends = [this](std::chrono::seconds rest) {
    tell(upstream, stream_closed{sockets.size(), fail(ec::unreachable, "HTTP 503"),
                                 503, rest});
    return shared->upstreams.find(7).last_error;
  };
  EXPECT_EQ(ends(limits::health_rest_min - 1s), "unreachable: HTTP 503");
  pass(limits::health_rest_min + longest(limits::upstream_backoff_min));
  EXPECT_EQ(ends(limits::health_rest_min),
            "unreachable: HTTP 503; it asked not to be dialled for 60 seconds");
}

// protocol-coverage.md 1.3: limits::upstream_backoff_min,
// limits::upstream_backoff_max, and a random part of the wait
TEST_F(UpstreamShellTest, EachFurtherFailureWaitsTwiceAsLongUpToALimit) {
  std::chrono::microseconds wait = limits::upstream_backoff_min;
  size_t at_once = 0;
  for (uint64_t dials = 1; dials < 9; ++dials) {
    ASSERT_EQ(sockets.size(), dials);
    tell(upstream, stream_closed{dials, fail(ec::unreachable), 0, 0s});
    pass(wait - 1us);
    EXPECT_EQ(sockets.size(), dials);
    pass(1us);
    at_once += sockets.size() - dials;
    pass(longest(wait) - wait);
    wait = std::min<std::chrono::microseconds>(wait * 2,
                                               limits::upstream_backoff_max);
  }
  EXPECT_EQ(wait, limits::upstream_backoff_max);
  EXPECT_EQ(at_once, 0u) << "they are spread";
}

TEST_F(UpstreamShellTest, EventsOfAnEarlierConnectionAreNotTaken) {
  tell(upstream, stream_opened{1});
  tell(upstream, stream_closed{1, fail(ec::unreachable), 0, 0s});
  pass(longest(limits::upstream_backoff_min));
  tell(upstream, stream_opened{2});
  tell(upstream, stream_frames{1, {account_frame(11)}});
  tell(upstream, stream_closed{1, fail(ec::unreachable), 0, 0s});
  EXPECT_EQ(router.count<frame_batch>(), 0u);
  frames(11, 1);
  EXPECT_EQ(router.count<frame_batch>(), 1u);
}

} // namespace weir::tests
