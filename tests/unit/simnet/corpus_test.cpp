#include "simnet/corpus.hpp"
#include "simnet/replay.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/simnet/mirror.hpp"
#include "tests/unit/simnet/servers_fixture.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weir::tests {

namespace {

using simnet::corpus;

class CorpusTest : public NetFixture {
protected:
  CorpusTest() : path((dir.path() / "corpus").string()) {
    const auto done = simnet::write_corpus(path, small_network(time), events);
    EXPECT_TRUE(done) << to_string(done.error());
    summary = done.value();
  }

  static constexpr size_t events = 700;

  std::unique_ptr<corpus> open() { return corpus::open(path).value(); }

  manual_clock time;
  temp_dir dir;
  std::string path;
  simnet::corpus_summary summary;
};

} // namespace

TEST_F(CorpusTest, TheFileHoldsWhatWasAskedFor) {
  EXPECT_EQ(summary.accounts, 12u);
  EXPECT_EQ(summary.records, 400u);
  EXPECT_EQ(summary.events, events);
  EXPECT_EQ(summary.file_bytes, std::filesystem::file_size(path));
  const auto x = open();
  EXPECT_EQ(x->accounts(), 12u);
  EXPECT_EQ(x->events(), events);
  EXPECT_EQ(x->played(), 0u);
}

TEST_F(CorpusTest, TheSameOptionsWriteTheSameFile) {
  const auto other = (dir.path() / "other").string();
  ASSERT_TRUE(simnet::write_corpus(other, small_network(time), events));
  const auto read = [](const std::string& name) {
    std::ifstream in{name, std::ios::binary};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
  };
  EXPECT_EQ(read(path), read(other));
}

TEST_F(CorpusTest, ItsAccountsAreThoseOfTheNetworkItWasMadeFrom) {
  const simnet::world source{small_network(time)};
  EXPECT_EQ(expected_copies(*open()), expected_copies(source));
}

// Exports verify at every moment, and the frames lead from one export to the
// next.
TEST_F(CorpusTest, TheTruthIsTheFoldOfThePlayedFrames) {
  const auto x = open();
  mirror by_relay{*x, time.wall_now()};
  mirror by_host{*x, time.wall_now()};
  by_relay.fetch_all();
  by_host.fetch_all();
  for (const size_t n : {1u, 99u, 300u, 1000u}) {
    x->play(n);
    by_relay.follow(*x->relay_log());
    for (size_t i = 0; i < x->hosts(); ++i)
      by_host.follow(x->host_log(i));
    ASSERT_EQ(by_relay.copies(), expected_copies(*x));
    ASSERT_EQ(by_host.copies(), expected_copies(*x));
    mirror fetched{*x, time.wall_now()};
    fetched.fetch_all();
    ASSERT_EQ(fetched.copies(), by_relay.copies());
  }
  EXPECT_EQ(x->played(), events);
  EXPECT_EQ(x->play(1), 0u);
  for (size_t i = 0; i < x->accounts(); ++i)
    EXPECT_EQ(x->view(i).records, x->expected(i).records.size());
}

TEST_F(CorpusTest, DamagedAndForeignFilesAreRefused) {
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 1);
  EXPECT_EQ(corpus::open(path).error().code, ec::malformed);
  std::filesystem::resize_file(path, 20);
  EXPECT_EQ(corpus::open(path).error().code, ec::malformed);
  std::ofstream{path} << std::string(4096, 'x');
  EXPECT_EQ(corpus::open(path).error().code, ec::malformed);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(corpus::open(path).error().code, ec::malformed);
  EXPECT_EQ(corpus::open(path + "-none").error().code, ec::not_found);
}

TEST_F(CorpusTest, AReplayServesRepositoriesAndEventsOverSockets) {
  auto server = simnet::replay::open(path, small_network(time)).value();
  const auto urls = server->start().value();
  net::ws_client_options options;
  options.target
    = net::parse_url(urls.relay)
        .value()
        .as_websocket()
        .with_target("/xrpc/com.atproto.sync.subscribeRepos?cursor=0");
  options.guard = net::address_guard{true};
  const auto ear = std::make_shared<stream_ear>();
  const auto stream = make_ws_client(network, options, ear);
  stream->grant(1'000'000, size_t{1} << 30);
  server->play_all();
  for (size_t i = 0; i < events; ++i)
    ASSERT_TRUE(ear->frames.pop()) << i;
  net::http_client_options client_options;
  client_options.guard = net::address_guard{true};
  const auto client = make_http_client(network, client_options);
  const auto account = server->truth().view(0);
  net::http_request request;
  request.target
    = net::parse_url(urls.hosts[account.host]
                     + "/xrpc/com.atproto.sync.getRepo?did=" + account.id.str())
        .value();
  inbox<result<net::http_response>> answers;
  client->get(std::move(request), [&answers](result<net::http_response> x) {
    answers.push(std::move(x));
  });
  const auto answer = answers.pop();
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ(as_text((*answer)->body),
            as_text(server->truth().export_car(0).view()));
}

} // namespace weir::tests
