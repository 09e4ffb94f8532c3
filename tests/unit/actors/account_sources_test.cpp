#include "actors/support/account_sources.hpp"
#include "base/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>

/// Which server's statement about an account counts for what
/// (protocol-coverage.md 4.1 to 4.3).
namespace weir::tests {
namespace {

using namespace actors;
using storage::account_status;
using storage::account_words;
using storage::combined;

constexpr account_status all[]{
  account_status::active,      account_status::inactive,
  account_status::deactivated, account_status::suspended,
  // In ascending order of gravity.
  account_status::takendown,   account_status::deleted};

constexpr uint32_t relay = 1;
constexpr uint32_t pds = 2;

account_sources::saying of_relay(account_status x, uint64_t seq,
                                 uint32_t id = relay) {
  return {x, {id, 1, seq}, true, seq == 0};
}

account_sources::saying of_host(account_status x, uint64_t seq) {
  return {x, {pds, 1, seq}, false, seq == 0};
}

bool is_verdict(account_status x) {
  return x == account_status::takendown || x == account_status::suspended;
}

// protocol-coverage.md 4.3: active only when all agree; otherwise the gravest
// statement counts
TEST(account_sources, every_pair_of_words_has_one_outcome) {
  for (const auto* host = std::begin(all); host != std::end(all); ++host)
    for (const auto* one = std::begin(all); one != std::end(all); ++one) {
      account_words x;
      account_sources::hear(x, of_host(*host, 1), true);
      account_sources::hear(x, of_relay(*one, 1), true);
      const auto expected = is_verdict(*one) ? std::max(host, one) : host;
      EXPECT_EQ(combined(x), *expected)
        << storage::to_string(*host) << ' ' << storage::to_string(*one);
    }
}

// protocol-coverage.md 4.1: the relay may override the host, and only that
// relay can withdraw it
TEST(account_sources, a_relays_takedown_stands_until_that_relay_withdraws_it) {
  for (const auto verdict :
       {account_status::takendown, account_status::suspended}) {
    account_words x;
    EXPECT_TRUE(account_sources::hear(x, of_relay(verdict, 1), true).changed);
    account_sources::hear(x, of_host(account_status::active, 1), true);
    account_sources::hear(x, of_host(account_status::active, 0), true);
    account_sources::answer(x, account_status::active);
    account_sources::hear(x, of_relay(account_status::active, 9, 7), true);
    EXPECT_EQ(combined(x), verdict);
    EXPECT_TRUE(
      account_sources::hear(x, of_relay(account_status::active, 2), true)
        .changed);
    EXPECT_EQ(combined(x), account_status::active);
  }
}

// protocol-coverage.md 4.1: where the host has a stream of its own, a relay's
// statement leads to a question; elsewhere it is the only source
TEST(account_sources, what_a_relay_passes_on_counts_where_the_host_is_silent) {
  for (const auto said : {account_status::inactive, account_status::deactivated,
                          account_status::deleted}) {
    account_words x;
    const auto own = account_sources::hear(x, of_relay(said, 1), true);
    EXPECT_TRUE(own.ask);
    EXPECT_EQ(combined(x), account_status::active);
    const auto other = account_sources::hear(x, of_relay(said, 2), false);
    EXPECT_FALSE(other.ask);
    EXPECT_TRUE(other.changed);
    EXPECT_EQ(combined(x), said);
    EXPECT_FALSE(account_sources::hear(x, of_relay(said, 3), false).changed);
    account_sources::hear(x, of_relay(account_status::active, 4), false);
    EXPECT_EQ(combined(x), account_status::active);
  }
}

// protocol-coverage.md 4.5: a listing that is behind does not undo the host's
// answer
TEST(account_sources, a_relays_listing_is_weaker_than_the_hosts_own_answer) {
  account_words x;
  EXPECT_TRUE(account_sources::answer(x, account_status::deactivated));
  EXPECT_FALSE(account_sources::answer(x, account_status::deactivated));
  const auto listed
    = account_sources::hear(x, of_relay(account_status::active, 0), false);
  EXPECT_TRUE(listed.ask);
  EXPECT_EQ(combined(x), account_status::deactivated);
  account_sources::hear(x, of_relay(account_status::active, 1), false);
  EXPECT_EQ(combined(x), account_status::active);
}

// protocol-coverage.md 4.5: one of two relays is behind. Neither counts for
// ever; each raises the question, and the host's answer stands.
TEST(account_sources, relays_that_list_different_states_have_the_host_asked) {
  account_words x;
  const auto list = [&](account_status said, uint32_t id) {
    return account_sources::hear(x, of_relay(said, 0, id), false);
  };
  EXPECT_TRUE(list(account_status::deactivated, 7).changed) << "all there is";
  EXPECT_TRUE(list(account_status::active, relay).ask);
  EXPECT_EQ(combined(x), account_status::deactivated);
  account_sources::answer(x, account_status::active);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(list(account_status::deactivated, 7).ask);
    EXPECT_FALSE(list(account_status::active, relay).ask);
    EXPECT_EQ(combined(x), account_status::active);
  }
  account_words one;
  account_sources::hear(one, of_relay(account_status::deactivated, 1), false);
  EXPECT_TRUE(
    account_sources::hear(one, of_relay(account_status::active, 0), false)
      .changed)
    << "it corrects itself";
}

// protocol-coverage.md 4.t7: a directory that answers 410 is a separate source
TEST(account_sources, a_tombstone_stands_until_there_is_a_document) {
  account_words x;
  EXPECT_TRUE(account_sources::note_identity(x, true));
  EXPECT_FALSE(account_sources::note_identity(x, true));
  account_sources::hear(x, of_host(account_status::active, 1), true);
  account_sources::hear(x, of_host(account_status::active, 0), true);
  account_sources::hear(x, of_relay(account_status::active, 1), false);
  account_sources::answer(x, account_status::active);
  EXPECT_EQ(combined(x), account_status::deleted);
  EXPECT_FALSE(account_sources::is_news(x, of_host(account_status::active, 0),
                                        true));
  EXPECT_TRUE(account_sources::note_identity(x, false));
  EXPECT_EQ(combined(x), account_status::active);
}

// Each source has a position of its own, because after a crash all of their
// frames come again
TEST(account_sources, each_source_is_known_by_its_own_position) {
  account_words x;
  account_sources::hear(x, of_relay(account_status::takendown, 5), true);
  account_sources::hear(x, of_host(account_status::active, 9), true);
  EXPECT_TRUE(account_sources::was_heard(x, {relay, 1, 5}));
  EXPECT_FALSE(account_sources::was_heard(x, {relay, 1, 6}));
  EXPECT_FALSE(account_sources::was_heard(x, {relay, 2, 1}));
  EXPECT_TRUE(account_sources::was_heard(x, {pds, 1, 9}));
  EXPECT_FALSE(account_sources::was_heard(x, {pds, 1, 10}));
  EXPECT_FALSE(account_sources::was_heard(x, {3, 1, 1}));
}

TEST(account_sources, the_word_of_a_relay_that_is_not_followed_is_void) {
  upstream_board board;
  upstream_view view;
  view.id = relay;
  view.relay = true;
  board.put(view);
  account_words x;
  account_sources::hear(x, of_relay(account_status::suspended, 1), false);
  account_sources::hear(x, of_relay(account_status::takendown, 1, 7), false);
  EXPECT_EQ(combined(x), account_status::takendown);
  EXPECT_TRUE(account_sources::has_strangers(x, board));
  EXPECT_TRUE(account_sources::forget_strangers(x, board));
  EXPECT_FALSE(account_sources::has_strangers(x, board));
  EXPECT_EQ(combined(x), account_status::suspended);
  EXPECT_FALSE(account_sources::forget_strangers(x, board));
}

// A listing that contains only known states wakes no REPO.
TEST(account_sources, a_line_is_news_when_it_changes_a_word_or_raises_a_doubt) {
  account_words x;
  const auto news = [&](const account_sources::saying& what, bool own) {
    return account_sources::is_news(x, what, own);
  };
  EXPECT_FALSE(news(of_relay(account_status::active, 0), false));
  EXPECT_TRUE(news(of_relay(account_status::takendown, 0), true));
  EXPECT_TRUE(news(of_relay(account_status::deactivated, 0), true));
  account_sources::hear(x, of_relay(account_status::takendown, 0), true);
  EXPECT_FALSE(news(of_relay(account_status::takendown, 0), true));
  EXPECT_FALSE(news(of_host(account_status::active, 0), true));
  EXPECT_TRUE(news(of_host(account_status::deactivated, 0), true));
}

// `limits::upstreams_max`, and one more
TEST(account_sources, the_relays_that_are_remembered_are_bounded) {
  account_words x;
  for (uint32_t id = 1; id <= limits::upstreams_max + 1; ++id)
    account_sources::hear(x, of_relay(account_status::suspended, 1, id), true);
  EXPECT_EQ(x.relays.size(), limits::upstreams_max);
}

} // namespace
} // namespace weir::tests
