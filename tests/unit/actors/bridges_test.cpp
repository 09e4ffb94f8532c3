#include "actors/backfill/fetch_bridge.hpp"
#include "actors/identity/identity_bridge.hpp"
#include "actors/supervisor/listing_bridge.hpp"
#include "messages/identity.hpp"
#include "tests/support/net_memory.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// What the engine asks others for over HTTP, and how much of an answer it
// takes; that a client keeps to these bounds is proved in tests/unit/net.
namespace weir::tests {
namespace {

using namespace weir::actors;

/// Writes down what is asked for; answers as the test says.
class scripted_client final : public net::http_client {
public:
  class no_call final : public net::http_call {
  public:
    void cancel() override {}
    void grant(uint64_t) override {}
  };

  net::http_call_ptr get(net::http_request x, net::http_handler done) override {
    asked.push_back(std::move(x));
    answers.push_back(std::move(done));
    return std::make_shared<no_call>();
  }

  net::http_call_ptr stream(net::http_request x,
                            std::shared_ptr<net::http_sink>) override {
    asked.push_back(std::move(x));
    return std::make_shared<no_call>();
  }

  void answer(std::string_view body, int status = 200) {
    net::http_response x;
    x.status = status;
    x.body = bytes(body.begin(), body.end());
    answers.back()(std::move(x));
  }

  std::vector<net::http_request> asked;
  std::vector<net::http_handler> answers;
};

class BridgesTest : public ShellFixture {
protected:
  void expect_bounds(const net::http_request& x, uint64_t body,
                     std::chrono::microseconds total) {
    EXPECT_EQ(x.limits.body_bytes_max, body);
    EXPECT_EQ(x.limits.total, total);
  }

  std::shared_ptr<scripted_client> client = std::make_shared<scripted_client>();
  std::shared_ptr<scripted_client> directory
    = std::make_shared<scripted_client>();
  std::shared_ptr<memory_transport> network
    = std::make_shared<memory_transport>();
  probe asker{sys};
};

} // namespace

TEST_F(BridgesTest, ARepoIsFetchedWithinItsBoundsAndUnderCredit) {
  const auto fetch = make_repo_fetcher(client, 1'234);
  fetch("https://pds.test", shell_repo(1), asker.as<backfill_actor>());
  ASSERT_EQ(client->asked.size(), 1u);
  expect_bounds(client->asked[0], 1'234, limits::repo_fetch_timeout);
  EXPECT_EQ(client->asked[0].credit, 0u);
  EXPECT_EQ(client->asked[0].limits.bytes_per_second_min,
            limits::http_bytes_per_second_min);
}

TEST_F(BridgesTest, ADocumentIsFetchedWithinItsBounds) {
  const auto lookups = make_identity_network(network, client, directory, {});
  const auto plc = atproto::did::trusted("did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  lookups->fetch_document(plc, asker.as<identity_actor>());
  lookups->fetch_document(shell_repo(1), asker.as<identity_actor>());
  ASSERT_EQ(directory->asked.size(), 1u);
  ASSERT_EQ(client->asked.size(), 1u);
  for (const auto& x : {directory->asked[0], client->asked[0]})
    expect_bounds(x, limits::did_document_bytes_max, limits::identity_timeout);
}

TEST_F(BridgesTest, AHandleIsResolvedWithinItsBounds) {
  identity_network_options options;
  options.handle_resolver_url = "https://resolver.test";
  make_identity_network(network, client, directory, options)
    ->resolve_handle(shell_repo(1), "a.test", asker.as<identity_actor>());
  ASSERT_EQ(directory->asked.size(), 1u);
  const auto lookups = make_identity_network(network, client, directory, {});
  lookups->resolve_handle(shell_repo(1), "a.test", asker.as<identity_actor>());
  network->loop.run(); // DNS has no answer: the handle's own host.
  ASSERT_EQ(client->asked.size(), 1u);
  for (const auto& x : {directory->asked[0], client->asked[0]})
    expect_bounds(x, limits::handle_body_bytes_max, limits::identity_timeout);
}

// -- listings (protocol.md 9) -------------------------------------------------

namespace {

class ListingBridgeTest : public BridgesTest {
protected:
  static std::string line(size_t i) {
    return R"({"did":")" + shell_repo(i).str()
           + R"(","rev":"3jzfcijpj2z2a","head":"x"})";
  }

  listing_page page_of(const std::string& lines) {
    upstream_view upstream;
    upstream.id = 7;
    upstream.origin = "https://relay.test";
    make_repo_lister(client, shared)(upstream, "", "",
                                     asker.as<supervisor_actor>());
    client->answer(R"({"cursor":"c1","repos":[)" + lines + "]}");
    run();
    const auto pages = asker.take<listing_page>();
    EXPECT_EQ(pages.size(), 1u);
    return pages.empty() ? listing_page{} : pages[0];
  }
};

} // namespace

TEST_F(ListingBridgeTest, APageIsFetchedWithinItsBounds) {
  page_of(line(1));
  ASSERT_EQ(client->asked.size(), 1u);
  expect_bounds(client->asked[0], limits::listing_bytes_max,
                limits::http_total_timeout);
  EXPECT_NE(client->asked[0].target.target.find(
              "limit=" + std::to_string(limits::listing_page_asked)),
            std::string::npos);
}

TEST_F(ListingBridgeTest, APageHasSoManyLinesAndNotOneMore) {
  auto lines = line(0);
  for (size_t i = 1; i < limits::listing_page_max; ++i)
    lines += ',' + line(i);
  EXPECT_EQ(page_of(lines).repos.size(), limits::listing_page_max);
  const auto more = page_of(lines + ',' + line(limits::listing_page_max));
  EXPECT_EQ(more.failed.code, ec::limit_reached);
  EXPECT_TRUE(more.repos.empty());
}

TEST_F(ListingBridgeTest, ALineThatIsNoRepoCostsNoOther) {
  const auto page
    = page_of(R"(7,null,{"did":"x"},)" + line(1) + ",[]," + line(2));
  ASSERT_EQ(page.repos.size(), 2u);
  EXPECT_EQ(page.repos[1].repo, shell_repo(2));
  EXPECT_EQ(page.cursor, "c1");
}

} // namespace weir::tests
