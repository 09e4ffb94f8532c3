#include "actors/supervisor/setup_hints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What a newcomer has configured and hardly meant (every wrong setting
// is answered).

namespace weir::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

completeness_census census_of(const std::vector<std::string>& hosts) {
  completeness_census out;
  for (const auto& host : hosts) {
    storage::repo_row row;
    row.pds = host;
    out.add(atproto::did::trusted("did:web:a.test"), row, {});
  }
  out.close();
  return out;
}

upstream_view upstream_at(std::string origin, bool relay) {
  upstream_view out;
  out.origin = std::move(origin);
  out.relay = relay;
  return out;
}

} // namespace

TEST(setup_hints, a_relay_that_is_the_host_of_repos_is_named_once) {
  setup_hints x;
  const std::vector all{upstream_at("https://a.test", true),
                        upstream_at("https://b.test", false),
                        upstream_at("https://relay.test", true)};
  EXPECT_THAT(x.pds_relays(all, census_of({})), IsEmpty());
  const auto census = census_of({"https://a.test", "https://b.test"});
  EXPECT_THAT(x.pds_relays(all, census), ElementsAre("https://a.test"));
  EXPECT_THAT(x.pds_relays(all, census), IsEmpty());
}

TEST(setup_hints, a_collection_that_nobody_has_is_told_once) {
  setup_hints x;
  x.on_look();
  EXPECT_FALSE(x.finds_nobody(census_of({}))) << "nothing was listed";
  x.on_look();
  x.on_holders_listed();
  EXPECT_FALSE(x.finds_nobody(census_of({}))) << "the look began before";
  x.on_look();
  EXPECT_TRUE(x.finds_nobody(census_of({})));
  EXPECT_FALSE(x.finds_nobody(census_of({})));
}

TEST(setup_hints, whoever_was_found_may_leave) {
  setup_hints x;
  x.on_holders_listed();
  x.on_look();
  EXPECT_FALSE(x.finds_nobody(census_of({"https://a.test"})));
  EXPECT_FALSE(x.finds_nobody(census_of({})));
}

} // namespace weir::actors
