#include "storage/format/keys.hpp"
#include "storage/tables/repo_table.hpp"
#include "storage/tables/row_access.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/store_left.hpp"

#include <gtest/gtest.h>

// An account counts as deleted because of a wrong answer that the directory
// gave long ago. No further look-up is planned, no event comes, and its host
// still has it (protocol-coverage.md 4.t7).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// Two hosts and no relay, and a node that follows the first host only.
class OldTombstoneTest : public testing::Test {
protected:
  static simnet::network_options options() {
    simnet::network_options out;
    out.population.seed = 29;
    out.population.accounts = 4;
    out.population.records = 40;
    out.population.hosts = 2;
    out.relay = false;
    return out;
  }

  /// An account of that host.
  atproto::did account_of(size_t host) {
    size_t i = 0;
    while (network.truth().view(i).host != host)
      ++i;
    return network.truth().view(i).id;
  }

  /// Writes into the store that the directory had a tombstone, `age` ago.
  void bury(const atproto::did& repo, std::chrono::seconds age) {
    const auto db = store_of(node.data_dir(), repo);
    storage::write_batch rows;
    const auto change = [&](const auto& key, auto row, auto edit) {
      const auto raw = storage::encode_key(key);
      row = storage::decode_value<decltype(row)>(db->get(raw).value().value(),
                                                 key.in)
              .value();
      edit(row);
      rows.put(raw, storage::encode_value(row));
    };
    change(storage::repo_key{repo}, storage::repo_row{}, [](auto& row) {
      row.account = storage::account_status::deleted;
      row.words.tombstoned = true;
      row.identity_due = false;
    });
    change(storage::identity_key{repo}, storage::identity_row{},
           [age](auto& row) {
             row.tombstoned = true;
             row.fetched_at -= age.count();
           });
    db->write(rows, storage::sync_mode::durable).value();
  }

  std::string state(const atproto::did& repo) {
    const auto page = web->get(node.data_url() + "/info/" + repo.str());
    return page ? std::string{as_text(page->body)} : std::string{};
  }

  bool is_deleted(const atproto::did& repo) {
    return state(repo).find(R"("state":"deleted")") != std::string::npos;
  }

  /// Buries a synced account and expects that the next life finds it.
  void expect_back(size_t host) {
    const auto repo = account_of(host);
    node.add({repo});
    node.await(repo, "synced");
    node.restart([&] { bury(repo, 25h); });
    EXPECT_TRUE(eventually(node_patience, [&] {
      return !is_deleted(repo);
    })) << state(repo)
        << tail_of(node.log());
    node.await(repo, "synced");
  }

  simnet::network network{options()};
  const simnet::network_urls urls = network.start(2).value();
  hostile_node node{{"pds:" + urls.hosts.at(0)},
                    urls.plc,
                    {"--mode", "manual", "--listing-interval", "2s"}};
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
};

} // namespace

TEST_F(OldTombstoneTest, IsDoubtedWhenTheListingOfItsHostNamesTheAccount) {
  expect_back(0);
}

TEST_F(OldTombstoneTest, IsDoubtedWhenAHostThatNobodyFollowsAnswersForIt) {
  expect_back(1);
}

// A host may list deleted accounts for ever.
TEST_F(OldTombstoneTest, IsDoubtedOnceADay) {
  const auto repo = account_of(0);
  node.add({repo});
  node.await(repo, "synced");
  node.restart([&] { bury(repo, 23h); });
  ASSERT_TRUE(node.await_metric("weir_listing_finished_total", 2));
  EXPECT_TRUE(is_deleted(repo)) << state(repo);
}

} // namespace weir::tests
