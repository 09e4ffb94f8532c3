#include "wire/filter.hpp"
#include "wire/limits.hpp"

#include <gtest/gtest.h>

// SYNC-20 to SYNC-23.
namespace weir::tests {

namespace {

using wire::collection_filter;

collection_filter filter_of(std::vector<std::string> patterns) {
  auto out = collection_filter::parse(std::move(patterns));
  EXPECT_TRUE(out) << out.error().context;
  return out ? *out : collection_filter{};
}

} // namespace

TEST(Filter, WithoutPatternsKeepsEverything) {
  EXPECT_TRUE(collection_filter{}.matches("app.bsky.feed.post"));
  EXPECT_TRUE(filter_of({}).matches_all());
}

TEST(Filter, BareStarKeepsEverythingWhateverStandsBesideIt) {
  const auto filter = filter_of({"app.bsky.feed.post", "*", "fm.teal.*"});
  EXPECT_TRUE(filter.matches_all());
  EXPECT_TRUE(filter.matches("xyz.statusphere.status"));
  EXPECT_EQ(filter.patterns().size(), 3u);
}

TEST(Filter, WildcardMatchesAtSegmentBoundariesOnly) {
  const auto filter = filter_of({"fm.teal.*"});
  EXPECT_TRUE(filter.matches("fm.teal.alpha"));
  EXPECT_TRUE(filter.matches("fm.teal.alpha.feed"));
  EXPECT_FALSE(filter.matches("fm.teal"));
  EXPECT_FALSE(filter.matches("fm.tealx.a"));
  EXPECT_FALSE(filter.matches("com.fm.teal.a"));
}

TEST(Filter, NameWithoutWildcardMatchesExactly) {
  const auto filter
    = filter_of({"app.bsky.feed.post", "app.bsky.graph.follow"});
  EXPECT_TRUE(filter.matches("app.bsky.feed.post"));
  EXPECT_TRUE(filter.matches("app.bsky.graph.follow"));
  EXPECT_FALSE(filter.matches("app.bsky.feed.postgate"));
  EXPECT_FALSE(filter.matches("app.bsky.feed"));
  EXPECT_FALSE(filter.matches(""));
}

TEST(Filter, NamesAndWildcardsTogetherAreAUnion) {
  const auto filter = filter_of({"app.bsky.feed.post", "fm.*"});
  EXPECT_TRUE(filter.matches("app.bsky.feed.post"));
  EXPECT_TRUE(filter.matches("fm.teal.alpha.feed.play"));
  EXPECT_FALSE(filter.matches("app.bsky.feed.like"));
}

TEST(Filter, KeepsPatternsSortedAndOnce) {
  const auto filter = filter_of({"fm.teal.*", "a.b.c", "fm.teal.*"});
  EXPECT_EQ(filter.patterns(),
            (std::vector<std::string>{"a.b.c", "fm.teal.*"}));
}

TEST(Filter, RefusesWhatIsNoPatternAndNamesIt) {
  for (const std::string bad :
       {"", "app", "app.bsky", "app.*.feed", "app.bsky.feed.p*", "*.bsky.feed",
        "**", ".*", "app..*", "1app.*", "app.bsky.feed.*.*", "app.bsky.feed.",
        "app.bsky.feed.post ", "$commit", "app.bsky.f\xc3\xa9.*"}) {
    const auto filter = collection_filter::parse({"a.b.c", bad});
    ASSERT_FALSE(filter) << bad;
    EXPECT_EQ(filter.error().code, ec::invalid_argument);
    EXPECT_NE(filter.error().context.find('"' + bad + '"'), std::string::npos);
  }
}

// If it were applied, such a filter would delete every record.
TEST(Filter, RefusesLargeLettersInADomainAndNamesWhatWasMeant) {
  for (const auto& [bad, meant] :
       {std::pair{"App.bsky.feed.Post", "app.bsky.feed.Post"},
        std::pair{"app.bsky.Feed.post", "app.bsky.feed.post"},
        std::pair{"app.Bsky.*", "app.bsky.*"}}) {
    const auto filter = collection_filter::parse({"a.b.c", bad});
    ASSERT_FALSE(filter) << bad;
    EXPECT_EQ(filter.error().code, ec::invalid_argument);
    EXPECT_TRUE(filter.error().context.ends_with(
      std::string{"did you mean "} + meant + "?"))
      << filter.error().context;
  }
  EXPECT_TRUE(filter_of({"app.bsky.feed.Post"}).matches("app.bsky.feed.Post"));
}

TEST(Filter, ShowsSoMuchOfABadPatternAndNotOneByteMore) {
  for (const size_t more : {0, 1}) {
    const std::string bad(limits::named_pattern_bytes_max + more, '!');
    const auto filter = collection_filter::parse({bad});
    ASSERT_FALSE(filter);
    EXPECT_NE(filter.error().context.find(
                '"' + std::string(limits::named_pattern_bytes_max, '!') + '"'),
              std::string::npos);
  }
}

TEST(Filter, TakesSoManyPatternsAndNotOneMore) {
  std::vector<std::string> patterns;
  for (size_t i = 0; i < limits::filter_patterns_max; ++i)
    patterns.push_back("com.example.c" + std::to_string(i));
  EXPECT_TRUE(collection_filter::parse(patterns));
  patterns.push_back("com.example.more");
  const auto filter = collection_filter::parse(patterns);
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code, ec::limit_reached);
}

} // namespace weir::tests
