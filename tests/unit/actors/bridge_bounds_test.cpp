#include "actors/backfill/fetch_bridge.hpp"
#include "actors/backfill/limits.hpp"
#include "actors/identity/identity_bridge.hpp"
#include "actors/identity/limits.hpp"
#include "actors/supervisor/host_bridges.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_accounts.hpp"
#include "messages/account.hpp"
#include "messages/backfill.hpp"
#include "messages/identity.hpp"
#include "net/limits.hpp"
#include "tests/unit/actors/bridge_world.hpp"

// How much a server may send to a bridge, and how long that may take.
namespace weir::tests {

namespace {

using namespace weir::actors;
using namespace std::chrono_literals;

class BridgeBoundsTest : public bridge_world {
protected:
  static std::string padded(std::string text, size_t bytes) {
    text.append(bytes - text.size(), ' ');
    return text;
  }

  ec listing_error() {
    upstream_view pds;
    pds.origin = "https://pds.test";
    make_repo_lister(client, shared)(pds, {}, {}, as<supervisor_actor>());
    return next<listing_page>().value_or(listing_page{}).repos.error().code;
  }

  account_answer::kind account_kind() {
    make_account_asker(client)(plc, "https://pds.test",
                               as<supervisor_actor>());
    return next<account_answer>().value_or(account_answer{}).what;
  }

  ec fetch_error() {
    const auto fetch = make_repo_fetcher(client, 1'000);
    EXPECT_TRUE(fetch("https://pds.test", plc, as<backfill_actor>()));
    return next<fetch_ended>().value_or(fetch_ended{}).outcome.error().code;
  }

  ec document_error(const atproto::did& repo) {
    said = R"({"id":")" + repo.str() + R"("})";
    network()->fetch_document(repo, as<identity_actor>());
    return next<identity_document>()
      .value_or(identity_document{})
      .doc.error()
      .code;
  }

  ec handle_error(std::string answer) {
    said = std::move(answer);
    network()->resolve_handle(plc, "ann.test", as<identity_actor>());
    return next<identity_handle>()
      .value_or(identity_handle{})
      .owner.error()
      .code;
  }

  std::shared_ptr<identity_network> network() {
    return make_identity_network(std::make_shared<txt_transport>(), client,
                                 client, options);
  }

  const atproto::did plc
    = atproto::did::trusted("did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  const atproto::did web = atproto::did::trusted("did:web:example.com");
  const std::string resolved = R"({"did":")" + plc.str() + R"("})";
  std::string said; ///< The answer of every server.
  std::shared_ptr<scripted_client> client
    = std::make_shared<scripted_client>([this](const auto&) {
        return answer_with(200, said);
      });
  context_ptr shared = std::make_shared<context>();
  identity_network_options options{"http://plc.test", {}, true};
};

} // namespace

TEST_F(BridgeBoundsTest, APageOfAListingIsReadUpToItsLimits) {
  said = padded(R"({"repos":[]})", limits::listing_bytes_max);
  client->takes = limits::http_total_timeout;
  EXPECT_EQ(listing_error(), ec::none);
  client->takes += 1us;
  EXPECT_EQ(listing_error(), ec::unreachable);
  client->takes = 0us;
  said += ' ';
  EXPECT_EQ(listing_error(), ec::limit_reached);
}

TEST_F(BridgeBoundsTest, TheStateOfAnAccountIsReadUpToItsLimit) {
  said = padded(R"({"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz",)"
                R"("active":true,"rev":"3jzfcijpj2z2a"})",
                limits::account_answer_bytes_max);
  EXPECT_EQ(account_kind(), account_answer::kind::stated);
  said += ' ';
  EXPECT_EQ(account_kind(), account_answer::kind::failed);
}

TEST_F(BridgeBoundsTest, ADownloadMayTakeItsTimeAndNotLonger) {
  client->takes = limits::repo_fetch_timeout;
  EXPECT_EQ(fetch_error(), ec::none);
  client->takes += 1us;
  EXPECT_EQ(fetch_error(), ec::unreachable);
}

TEST_F(BridgeBoundsTest, LookUpsMayTakeTheirTimeAndNotLonger) {
  for (const auto& [takes, wanted] :
       {std::pair<std::chrono::microseconds, ec>{limits::identity_timeout,
                                                 ec::none},
        {limits::identity_timeout + 1us, ec::unreachable}}) {
    client->takes = takes;
    options.handle_resolver_url.clear();
    EXPECT_EQ(document_error(plc), wanted);
    EXPECT_EQ(document_error(web), wanted);
    EXPECT_EQ(handle_error(plc.str()), wanted);
    options.handle_resolver_url = "https://resolver.test";
    EXPECT_EQ(handle_error(resolved), wanted);
  }
}

TEST_F(BridgeBoundsTest, TheAnswerOfAResolverIsReadUpToItsLimit) {
  options.handle_resolver_url = "https://resolver.test";
  const auto most = padded(resolved, limits::handle_body_bytes_max);
  EXPECT_EQ(handle_error(most), ec::none);
  EXPECT_NE(handle_error(most + ' '), ec::none);
}

} // namespace weir::tests
