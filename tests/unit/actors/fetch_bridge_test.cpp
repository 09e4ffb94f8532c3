#include "actors/backfill/fetch_bridge.hpp"
#include "actors/backfill/limits.hpp"
#include "messages/backfill.hpp"
#include "net/limits.hpp"
#include "tests/unit/actors/bridge_world.hpp"

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using namespace weir::actors;

class FetchBridgeTest : public bridge_world {
protected:
  const atproto::did did
    = atproto::did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").value();
};

} // namespace

// protocol-coverage.md 5.0
TEST_F(FetchBridgeTest, ACarIsAskedForAndGzipIsWelcome) {
  auto said = answer_with(429, "{}");
  said.retry_after = 90s;
  const auto client = std::make_shared<scripted_client>([&](const auto&) {
    return said;
  });
  const auto fetch = make_repo_fetcher(client, 1'000);
  EXPECT_TRUE(fetch("https://pds.test", did, as<backfill_actor>()));
  const auto& asked = client->requests.at(0);
  EXPECT_EQ(to_string(asked.target),
            "https://pds.test/xrpc/com.atproto.sync.getRepo?did="
            "did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz");
  ASSERT_EQ(asked.headers.size(), 1u);
  EXPECT_EQ(asked.headers[0].value, "application/vnd.ipld.car");
  EXPECT_TRUE(asked.accept_gzip);
  EXPECT_EQ(asked.limits.body_bytes_max, 1'000u);
  EXPECT_EQ(asked.credit, 0u) << "nothing is read before it is wanted";
  const auto head = next<fetch_head>();
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 429);
  EXPECT_EQ(head->retry_after, 90s);
  EXPECT_TRUE(next<fetch_bytes>());
  EXPECT_TRUE(next<fetch_ended>());
}

// limits::fetch_type_bytes_max, and one byte more
TEST_F(FetchBridgeTest, SoMuchOfTheContentTypeIsKeptAndNotOneByteMore) {
  for (const size_t more : {0, 1}) {
    const std::string most(limits::fetch_type_bytes_max, 'x');
    auto said = answer_with(200, "");
    said.headers = {{"Content-Type", most + std::string(more, 'y')}};
    const auto client = std::make_shared<scripted_client>([&](const auto&) {
      return said;
    });
    make_repo_fetcher(client, 1'000)("https://pds.test", did,
                                     as<backfill_actor>());
    const auto head = next<fetch_head>();
    ASSERT_TRUE(head);
    EXPECT_EQ(head->content_type, most);
  }
}

} // namespace weir::tests
