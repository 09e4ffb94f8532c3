#include "atproto/limits.hpp"
#include "simnet/network.hpp"
#include "tests/system/hostile_node.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

// The first sync of a network of thousands uses the directory's export instead
// of one look-up each (docs/adr/0015-the-export-of-the-directory.md).
// ACCOUNTS=15000 is the large form.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using simnet::fault_kind;

constexpr auto crowd_patience = node_patience + 120s * slowness;

class ExportTest : public testing::Test {
protected:
  ExportTest()
    : accounts(wished("ACCOUNTS", 3'000)), life(options(accounts)),
      urls(life.start(2).value()) {
    // nop
  }

  static simnet::network_options options(size_t accounts) {
    simnet::network_options out;
    out.population.seed = 122;
    out.population.accounts = accounts;
    out.population.records = accounts;
    out.population.size_exponent = 0.01;
    out.population.hosts = 3;
    out.population.p256_per_thousand = 1'000; // Faster to sign.
    return out;
  }

  /// The directory does this to `count` requests of the export only, to all
  /// when it is 0.
  void order(fault_kind kind, size_t count = 0) {
    simnet::fault x;
    x.kind = kind;
    x.did = "export";
    x.count = count;
    ASSERT_TRUE(life.faults().inject(x));
  }

  /// Makes the export older than a change to 40 accounts, which
  /// `expect_identities` checks.
  void fall_behind(fault_kind kind) {
    ASSERT_TRUE(apps::web_client::make()->get(urls.plc + "/export?after=0"));
    for (size_t i = 0; i < 40; ++i) {
      const auto account = i * 97 % accounts;
      simnet::fault x;
      x.kind = kind;
      x.did = life.truth().view(account).id.str();
      ASSERT_TRUE(life.faults().inject(x));
      life.traffic().post(account); // Signed with its new key.
    }
    order(fault_kind::directory_stale);
  }

  /// Follows the relay until every account is synced.
  void sync(std::vector<std::string> more = {}) {
    more.insert(more.end(),
                {"--mode", "full-network", "--sync-parallelism", "32"});
    const auto begin = std::chrono::steady_clock::now();
    node = std::make_unique<hostile_node>(
      std::vector<std::string>{"relay:" + urls.relay}, urls.plc, more);
    ASSERT_TRUE(eventually(crowd_patience,
                           [this] {
                             return node->metric("weir_repos_synced ")
                                    == accounts;
                           }))
      << node->metric("weir_repos_synced ");
    const std::chrono::duration<double> took
      = std::chrono::steady_clock::now() - begin;
    const auto asked = life.requests().directory();
    std::cout << accounts << " accounts were synced in " << took.count()
              << " s with " << asked.documents << " documents and "
              << asked.export_pages << " pages of the export\n";
  }

  /// Expects that the node's data of these accounts equals the network.
  void expect_identities() {
    for (size_t i = 0; i < accounts; i += 97) {
      const auto account = life.truth().view(i);
      const auto repo = node->repo(account.id);
      EXPECT_EQ(repo.status, "synced") << repo.error;
      EXPECT_EQ(repo.rev, account.rev.str());
      EXPECT_EQ(node->handle(account.id), account.handle);
    }
  }

  const size_t accounts;
  simnet::network life;
  simnet::network_urls urls;
  std::unique_ptr<hostile_node> node;
};

} // namespace

// protocol-coverage.md 8.3, SYNC-19
TEST_F(ExportTest, AFirstSyncTakesItInsteadOfMostLookUps) {
  sync();
  const auto asked = life.requests().directory();
  EXPECT_LT(asked.documents, accounts * 2 / 3);
  EXPECT_LE(asked.export_pages, accounts / limits::export_page_lines + 3);
  EXPECT_EQ(node->metric("weir_identity_exported_total ") + asked.documents,
            accounts);
  EXPECT_EQ(node->metric("weir_identity_export_requests_total "),
            asked.export_pages);
  EXPECT_EQ(node->metric("weir_identity_export_operations_total "), accounts);
  expect_identities();
}

TEST_F(ExportTest, ADirectoryWithoutOneIsAskedForEachDocument) {
  order(fault_kind::directory_forget);
  sync();
  const auto asked = life.requests().directory();
  EXPECT_EQ(asked.documents, accounts);
  EXPECT_EQ(asked.export_pages, 1u) << "and not again soon";
  expect_identities();
}

TEST_F(ExportTest, AnExportThatCannotBeReadDoesNoHarm) {
  order(fault_kind::directory_wrong);
  sync();
  EXPECT_EQ(life.requests().directory().documents, accounts);
  expect_identities();
}

// A directory whose export is older than its documents, so that it has former
// keys.
TEST_F(ExportTest, AnExportThatIsBehindDoesNoHarm) {
  fall_behind(fault_kind::rotate_key);
  sync();
  EXPECT_GT(node->metric("weir_identity_exported_total "), accounts / 3);
  expect_identities();
}

// An account that moved is deactivated at the host that the export names. The
// directory is asked before that is accepted.
TEST_F(ExportTest, AnExportThatNamesFormerHostsDoesNoHarm) {
  fall_behind(fault_kind::migrate);
  sync();
  EXPECT_GT(node->metric("weir_identity_exported_total "), accounts / 3);
  expect_identities();
}

} // namespace weir::tests
