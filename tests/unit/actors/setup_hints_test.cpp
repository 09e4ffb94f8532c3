#include "actors/supervisor/limits_scans.hpp"
#include "actors/supervisor/setup_hints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Settings of a new user that are hardly intended (every wrong setting is
// answered).

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

/// A relay and a PDS, each with one listing of accounts with records.
struct two_upstreams {
  setup_hints x;
  std::vector<upstream_view> all{upstream_at("https://relay.test", true),
                                 upstream_at("https://a.test", false)};

  two_upstreams() {
    all[0].id = 1;
    all[1].id = 2;
  }

  bool finds_nobody(const std::vector<std::string>& hosts = {}) {
    x.on_look(all);
    return x.finds_nobody(census_of(hosts));
  }

  void want(uint32_t upstream) { x.on_holders_wanted({upstream, "app.a"}); }

  void list(uint32_t upstream, bool known = true) {
    x.on_holders_listed({upstream, "app.a"}, known);
  }
};

TEST(setup_hints, a_collection_that_nobody_has_is_told_once) {
  two_upstreams net;
  EXPECT_FALSE(net.finds_nobody()) << "nothing was listed";
  net.want(1);
  net.want(2);
  net.list(1);
  EXPECT_FALSE(net.finds_nobody()) << "the other one may know somebody";
  net.x.on_look(net.all);
  net.list(2);
  EXPECT_FALSE(net.x.finds_nobody(census_of({}))) << "the look began before";
  EXPECT_TRUE(net.finds_nobody());
  EXPECT_FALSE(net.finds_nobody());
}

TEST(setup_hints, an_upstream_that_is_away_or_does_not_tell_may_know_somebody) {
  two_upstreams net;
  net.want(1);
  net.list(1);
  EXPECT_FALSE(net.finds_nobody()) << "it is away";
  net.want(2);
  net.list(2, false);
  EXPECT_FALSE(net.finds_nobody()) << "it does not tell";
  net.want(2);
  net.list(2);
  EXPECT_TRUE(net.finds_nobody());
}

/// Repos that are fetched or not, under the present filter or an earlier one.
completeness_census fetched_repos(size_t count, bool fetched = true,
                                  bool filter_current = true) {
  completeness_census out;
  completeness::terms terms;
  terms.synced = fetched;
  terms.filter_current = filter_current;
  for (size_t i = 0; i < count; ++i)
    out.add(atproto::did::trusted("did:web:a.test"), {}, terms);
  out.close();
  return out;
}

TEST(setup_hints, collections_that_keep_nothing_of_many_repos_are_told_once) {
  constexpr auto enough = limits::kept_nothing_repos_min;
  setup_hints x;
  EXPECT_FALSE(x.keeps_nothing(fetched_repos(enough - 1), 0));
  EXPECT_FALSE(x.keeps_nothing(fetched_repos(enough + 1), 1)) << "one is kept";
  EXPECT_FALSE(x.keeps_nothing(fetched_repos(enough + 1, false), 0));
  EXPECT_FALSE(x.keeps_nothing(fetched_repos(enough + 1, true, false), 0))
    << "what these collections keep was not fetched yet";
  EXPECT_TRUE(x.keeps_nothing(fetched_repos(enough), 0));
  EXPECT_FALSE(x.keeps_nothing(fetched_repos(enough + 1), 0)) << "told";
}

TEST(setup_hints, whoever_was_found_may_leave) {
  two_upstreams net;
  for (const uint32_t i : {1, 2}) {
    net.want(i);
    net.list(i);
  }
  EXPECT_FALSE(net.finds_nobody({"https://a.test"}));
  EXPECT_FALSE(net.finds_nobody());
}

} // namespace weir::actors
