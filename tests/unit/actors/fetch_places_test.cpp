#include "tests/unit/actors/supervisor_queue.hpp"

/// Places of repos that are prepared for a fetch: some for repos whose hosts
/// are not known yet, and some for all others.
namespace weir::tests::supervisors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Repos whose hosts are not known keep their places during their look-ups. A
// repo whose host becomes known is not one of them any more
TEST(fetch_places, a_repo_whose_host_becomes_known_waits_with_that_host) {
  supervisor_machine machine{{}};
  const steady_time now{1};
  std::vector<std::string> asked;
  const auto take = [&](const supervisor_machine::effects& x) {
    for (const auto& repo : x.look_up)
      asked.push_back(repo.str());
  };
  const auto new_repo = [](size_t i) {
    return atproto::did::trusted("did:plc:n" + std::to_string(i));
  };
  const auto places = supervisor_options{}.preparing_max;
  const auto wish = [&](size_t i, const std::string& pds) {
    take(machine.on_wish(new_repo(i), repo_status::pending, pds, 0s, now));
  };
  for (size_t i = 0; i < 4 * places; ++i)
    wish(i, {});
  ASSERT_EQ(asked.size(), places);
  asked.clear();
  wish(3 * places, a_host);
  EXPECT_THAT(asked, ElementsAre(new_repo(3 * places).str()));
  EXPECT_EQ(machine.queued(), 4 * places);
}

// limits::fetch_preparing_max, and one more
TEST(fetch_places, those_that_wait_for_permits_have_places_of_their_own) {
  queue x;
  const auto places = static_cast<int>(supervisor_options{}.preparing_max);
  for (int i = 0; i < 2 * places; ++i) {
    const auto pds = "https://h" + std::to_string(i) + ".test";
    x.wish(i, repo_status::pending, 0s, pds);
    x.ready(i, pds);
  }
  const auto permits = supervisor_options{}.parallelism;
  EXPECT_EQ(x.started.size(), permits);
  EXPECT_EQ(x.prepared.size(), static_cast<size_t>(places) + permits);
  x.clear();
  x.wish(1'000); // Its host is not known, so it takes none of their places.
  EXPECT_THAT(x.prepared, ElementsAre(name(1'000)));
  x.clear();
  x.ready(1'000, a_host); // They have no place left.
  EXPECT_THAT(x.started, IsEmpty());
  x.end(0);
  EXPECT_EQ(x.started.size(), 1u);
  EXPECT_EQ(x.prepared.size(), 1u);
}

} // namespace
} // namespace weir::tests::supervisors
