#include "actors/supervisor/limits_claims.hpp"
#include "tests/unit/actors/claims_directory.hpp"

// A repo that only a listing names is a claim until a DID document agrees.
namespace weir::tests::claims {
namespace {

TEST(claims, what_a_look_up_says_of_a_claim) {
  identity_answer x;
  storage::identity_row row;
  row.pds = its_host;
  row.fetched_at = 7;
  x.fact = row;
  const auto named = claim_word::of(x);
  EXPECT_TRUE(named.has_host());
  EXPECT_EQ(named.pds, its_host);
  EXPECT_EQ(named.fetched_at, 7);
  x.fact->tombstoned = true;
  EXPECT_TRUE(claim_word::of(x).is_gone());
  for (const auto code : {ec::unreachable, ec::limit_reached}) {
    x.fact = fail(code, "");
    EXPECT_EQ(claim_word::of(x).what, kind::away);
  }
  x.fact = fail(ec::not_found, "");
  EXPECT_EQ(claim_word::of(x).what, kind::missing);
}

TEST(claims, of_a_pds_the_document_has_to_name_that_host) {
  directory x;
  x.page(of_pds, claims_of(0, 3));
  x.say(claimed_did(0), {kind::names_host, its_host});
  x.say(claimed_did(1), {kind::names_host, "https://other.test"});
  x.say(claimed_did(2), {kind::missing, {}});
  x.pass_retry();
  x.say(claimed_did(2), {kind::missing, {}});
  EXPECT_THAT(x.confirmed, testing::ElementsAre(claimed_did(0)));
  ASSERT_EQ(x.pages.size(), 1u);
  EXPECT_TRUE(x.pages[0].trusted);
  EXPECT_EQ(x.machine.bytes(), 0u);
}

TEST(claims, of_a_relay_any_document_with_a_host_will_do) {
  directory x;
  x.page(of_pds, claims_of(0, 2), {});
  x.say(claimed_did(0), {kind::names_host, "https://any.test"});
  x.say(claimed_did(1), {kind::names_host, {}});
  EXPECT_THAT(x.confirmed, testing::ElementsAre(claimed_did(0)));
}

// A page of a host that sends more lines than requested is handled whatever
// memory there is.
TEST(claims, more_than_the_first_of_a_page_never_takes_the_last_memory) {
  constexpr auto most = limits::claims_of_page_max;
  const auto page = claims_of(0, most + 2);
  const auto bytes = bytes_of(claims_of(0, most + 1));
  for (const auto less : {0u, 1u}) {
    directory x;
    x.machine = claims_machine{bytes - less};
    x.page(of_pds, page);
    EXPECT_EQ(x.machine.bytes(), bytes_of(claims_of(0, most + 1 - less)));
    EXPECT_EQ(x.dropped, 1 + less);
  }
}

// limits::claims_of_page_max, limits::claims_spare_max: lines beyond the first
// limit are taken as long as there is room for the second.
TEST(claims, a_page_has_so_many_and_more_while_there_is_room) {
  constexpr auto most = limits::claims_of_page_max;
  for (const auto more : {0u, 1u}) {
    directory x;
    x.machine = claims_machine{8 * limits::claims_bytes_max};
    x.page(of_pds, claims_of(0, most + limits::claims_spare_max + more));
    const auto first = bytes_of(claims_of(0, most + limits::claims_spare_max));
    EXPECT_EQ(x.machine.bytes(), first);
    EXPECT_EQ(x.dropped, more);
    x.page(of_other, claims_of(100'000, most + 1));
    EXPECT_EQ(x.machine.bytes(), first + bytes_of(claims_of(100'000, most)));
    EXPECT_EQ(x.dropped, more + 1) << "the room is taken";
    EXPECT_EQ(x.say_all({kind::names_host, its_host}),
              2 * most + limits::claims_spare_max);
    EXPECT_EQ(x.pages.size(), 2u);
    x.page(of_other, claims_of(100'000, most + 1));
    EXPECT_EQ(x.machine.bytes(), bytes_of(claims_of(100'000, most + 1)))
      << "it is free again";
  }
}

// limits::claims_asked_share for one listing, limits::claims_asked_max for all
TEST(claims, so_many_are_asked_about_at_once) {
  directory x;
  x.page(of_pds, claims_of(0, limits::claims_asked_share + 1));
  EXPECT_EQ(x.asked.size(), limits::claims_asked_share);
  x.page(of_other, claims_of(1'000, limits::claims_asked_max));
  EXPECT_EQ(x.asked.size(), limits::claims_asked_max);
  x.page({3, {}}, claims_of(2'000, 1));
  EXPECT_EQ(x.asked.size(), limits::claims_asked_max);
  x.say(claimed_did(0), {kind::names_host, its_host});
  EXPECT_EQ(x.asked.back(), claimed_did(2'000)) << "it had none";
}

// limits::claims_even_turn: a listing that comes later and has few claims is
// done first, and one with many continues
TEST(claims, those_of_a_small_listing_come_soon) {
  directory x;
  x.page(of_pds, claims_of(0, 500));
  for (int i = 0; i < 100; ++i)
    x.say(x.next(), {kind::names_host, its_host});
  constexpr size_t few = 30;
  x.page(of_other, claims_of(1'000, few));
  size_t others = 0;
  for (size_t done = 0; done < few;) {
    const auto is_of_other
      = x.asked.front().str().size() == claimed_did(1'000).str().size();
    x.say(x.next(), {kind::names_host, its_host});
    ++(is_of_other ? done : others);
  }
  others -= limits::claims_asked_share; // These came before.
  EXPECT_GE(others, few / limits::claims_even_turn);
  EXPECT_LE(others, few / (limits::claims_even_turn - 1) + 2);
}

// limits::claims_judged_min
TEST(claims, a_listing_whose_claims_mostly_fail_is_not_trusted) {
  constexpr auto judged = limits::claims_judged_min;
  directory x;
  x.page(of_pds, claims_of(0, 200));
  for (size_t i = 0; i + 1 < judged; ++i)
    x.say(claimed_did(i), {kind::missing, {}});
  EXPECT_TRUE(x.pages.empty());
  x.say(claimed_did(judged - 1), {kind::missing, {}});
  ASSERT_EQ(x.pages.size(), 1u);
  EXPECT_FALSE(x.pages[0].trusted);
  EXPECT_EQ(x.machine.bytes(), 0u) << "the others are dropped";
}

TEST(claims, half_of_them_may_fail) {
  directory x;
  x.page(of_pds, claims_of(0, 2 * limits::claims_judged_min));
  for (size_t i = 0; i < 2 * limits::claims_judged_min; ++i)
    x.say(claimed_did(i), {i % 2 == 0 ? kind::names_host : kind::missing,
                           i % 2 == 0 ? its_host : ""});
  x.asked.clear();
  x.pass_retry();
  while (!x.asked.empty())
    x.say_all({kind::missing, {}});
  ASSERT_EQ(x.pages.size(), 1u);
  EXPECT_TRUE(x.pages[0].trusted);
}

TEST(claims, many_small_pages_are_judged_as_one_large_one) {
  directory x;
  for (size_t i = 0; i < limits::claims_judged_min; ++i) {
    x.page(of_pds, claims_of(i, 1));
    EXPECT_TRUE(x.pages.empty() || x.pages.back().trusted) << i;
    x.say_all({kind::missing, {}});
    x.pass_retry();
    x.say_all({kind::missing, {}});
  }
  EXPECT_FALSE(x.pages.back().trusted);
}

// A host still lists accounts that moved away, as inactive.
TEST(claims, an_account_that_is_away_may_have_moved) {
  directory x;
  x.page(of_pds, claims_of(0, 200, false));
  x.say_all({kind::names_host, "https://other.test"});
  ASSERT_EQ(x.pages.size(), 1u);
  EXPECT_TRUE(x.pages[0].trusted);
  EXPECT_TRUE(x.confirmed.empty());
}

// limits::claim_retry, limits::claim_tries_max
TEST(claims, a_directory_that_is_away_says_nothing) {
  directory x;
  x.page(of_pds, claims_of(0, 1));
  for (size_t i = 1; i < limits::claim_tries_max; ++i) {
    EXPECT_EQ(x.say_all({kind::away, {}}), 1u);
    ASSERT_TRUE(x.timer);
    EXPECT_EQ(*x.timer - x.now, limits::claim_retry);
    x.take(x.machine.on_timer(*x.timer + -1us));
    EXPECT_TRUE(x.asked.empty());
    EXPECT_TRUE(x.pages.empty());
    x.now = *x.timer;
    x.take(x.machine.on_timer(x.now));
  }
  EXPECT_EQ(x.dropped, 0u);
  EXPECT_EQ(x.say_all({kind::away, {}}), 1u);
  EXPECT_EQ(x.dropped, 1u) << "it is counted";
  ASSERT_EQ(x.pages.size(), 1u) << "it comes again with the next listing";
  EXPECT_TRUE(x.pages[0].trusted);
}

// A did:web that does not answer counts against its listing.
TEST(claims, a_did_web_that_is_away_rests_nobody) {
  directory x;
  auto mixed = claims_of(0, 2 * limits::claims_asked_max);
  for (size_t i = 1; i < mixed.size(); i += 2)
    mixed[i].repo
      = atproto::did::trusted("did:web:away" + std::to_string(i) + ".test");
  x.page(of_pds, std::move(mixed));
  x.page(of_other, claims_of(1'000, limits::claims_asked_max), {});
  while (!x.asked.empty()) {
    const auto repo = x.next();
    x.say(repo, repo.str().starts_with("did:web:")
                  ? claims_machine::word{kind::away, {}}
                  : claims_machine::word{kind::names_host, its_host});
  }
  EXPECT_FALSE(x.timer);
  EXPECT_EQ(x.pages.size(), 2u);
  EXPECT_EQ(x.confirmed.size(), 2 * limits::claims_asked_max);
}

TEST(claims, a_word_on_what_was_dropped_is_nobodys) {
  directory x;
  x.page(of_pds, claims_of(0, limits::claims_judged_min + 5));
  const auto late = x.asked.back();
  while (x.pages.empty())
    x.say(x.next(), {kind::missing, {}});
  x.say(late, {kind::names_host, its_host});
  EXPECT_TRUE(x.confirmed.empty());
  EXPECT_EQ(x.pages.size(), 1u);
}

TEST(claims, one_claimed_by_two_listings_is_asked_about_once) {
  directory x;
  x.page(of_pds, claims_of(0, 1));
  x.page(of_other, claims_of(0, 1), "https://other.test");
  EXPECT_EQ(x.asked.size(), 1u);
  x.say(claimed_did(0), {kind::names_host, its_host});
  EXPECT_EQ(x.confirmed.size(), 1u);
  EXPECT_EQ(x.pages.size(), 2u);
}

} // namespace
TEST(claims, lines_of_names_that_can_be_resolved_are_claims) {
  std::vector<repo_listed> lines(3);
  lines[0].repo = atproto::did::trusted("did:plc:" + std::string(24, 'a'));
  lines[1].repo = atproto::did::trusted("did:key:zabc");
  lines[2].repo = atproto::did::trusted("did:web:some.test");
  lines[2].account = storage::account_status::deactivated;
  const auto claims = claims_in(lines);
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0].repo, lines[0].repo);
  EXPECT_TRUE(claims[0].active);
  EXPECT_EQ(claims[1].repo, lines[2].repo);
  EXPECT_FALSE(claims[1].active);
}

// architecture.md, When memory runs short; limits::claims_bytes_max
TEST(claims_machine, what_it_holds_is_counted_and_given_back) {
  directory x;
  EXPECT_EQ(x.machine.bytes(), 0u);
  const auto cost = claims_machine::cost_of({claimed_did(1), true});
  EXPECT_EQ(cost, limits::claim_entry_bytes + 3 * claimed_did(1).str().size());
  x.page(of_pds, claims_of(1, 5));
  EXPECT_EQ(x.machine.bytes(), 5 * cost);
  x.say(x.next(), {kind::names_host, its_host});
  x.say(x.next(), {kind::missing, {}});
  EXPECT_EQ(x.machine.bytes(), 4 * cost) << "it is asked about again";
  x.say(x.next(), {kind::away, {}});
  EXPECT_EQ(x.machine.bytes(), 4 * cost) << "so is this one";
  while (x.machine.bytes() > 0) {
    x.say_all({kind::away, {}});
    x.now = x.now + limits::claim_retry;
    x.take(x.machine.on_timer(x.now));
  }
  EXPECT_EQ(x.machine.bytes(), 0u);
  x.page(of_pds, claims_of(1, limits::claims_judged_min));
  x.say_all({kind::missing, {}});
  EXPECT_FALSE(x.pages.back().trusted);
  EXPECT_EQ(x.machine.bytes(), 0u);
}

TEST(claims_machine, a_page_without_room_comes_again) {
  const auto cost = claims_machine::cost_of({claimed_did(1), true});
  claims_machine machine{10 * cost};
  machine.on_page(of_pds, its_host, claims_of(0, 9), noon, {});
  auto out = machine.on_page(of_other, {}, claims_of(1, 2), noon, {});
  EXPECT_THAT(out.ask, testing::IsEmpty());
  ASSERT_EQ(out.pages.size(), 1u);
  EXPECT_EQ(out.pages[0].what, of_other);
  EXPECT_FALSE(out.pages[0].has_room);
  EXPECT_EQ(machine.bytes(), 9 * cost);
  out = machine.on_page(of_other, {}, claims_of(1, 1), noon, {});
  EXPECT_THAT(out.pages, testing::IsEmpty());
  EXPECT_EQ(machine.bytes(), 10 * cost);
}

// limits::claims_bytes_max: otherwise its listing would wait for ever
TEST(claims_machine, of_a_page_that_never_has_room_as_much_is_taken_as_has) {
  const auto cost = claims_machine::cost_of({claimed_did(1), true});
  for (const size_t more : {0u, 1u}) {
    directory x;
    x.machine = claims_machine{8 * cost};
    x.page(of_pds, claims_of(0, 8 + more));
    EXPECT_EQ(x.dropped, more);
    EXPECT_EQ(x.machine.bytes(), 8 * cost);
    EXPECT_EQ(x.say_all({kind::names_host, its_host}), 8u);
    ASSERT_EQ(x.pages.size(), 1u);
    EXPECT_TRUE(x.pages[0].has_room && x.pages[0].trusted);
  }
}

} // namespace weir::tests::claims
