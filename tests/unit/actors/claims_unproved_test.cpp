#include "actors/supervisor/limits_claims.hpp"
#include "tests/unit/actors/claims_directory.hpp"

// Claims, and a directory with wrong answers.
namespace weir::tests::claims {
namespace {

// A directory may lag behind, or be wrong for a moment.
TEST(claims, what_is_missing_is_asked_for_a_second_time) {
  directory x;
  x.page(of_pds, claims_of(0, 2));
  x.say_all({kind::missing, {}});
  EXPECT_TRUE(x.pages.empty());
  ASSERT_TRUE(x.timer);
  EXPECT_EQ(*x.timer - x.now, limits::claim_retry);
  x.take(x.machine.on_timer(*x.timer + -1us));
  EXPECT_TRUE(x.asked.empty());
  x.pass_retry();
  ASSERT_EQ(x.asked.size(), 2u);
  x.say(claimed_did(0), {kind::names_host, its_host});
  x.say(claimed_did(1), {kind::missing, {}});
  EXPECT_THAT(x.confirmed, testing::ElementsAre(claimed_did(0)));
  EXPECT_EQ(x.pages.size(), 1u) << "and not for a third";
  EXPECT_EQ(x.machine.bytes(), 0u);
}

// It may also report an identity as gone by mistake. That answer is stored, so
// reading what is known would only repeat it.
TEST(claims, what_is_gone_is_looked_up_a_second_time) {
  directory x;
  x.page(of_pds, claims_of(0, 2));
  x.say_all({kind::names_host, {}});
  EXPECT_TRUE(x.pages.empty());
  x.pass_retry();
  ASSERT_EQ(x.anew.size(), 2u);
  x.say(claimed_did(0), {kind::names_host, its_host});
  x.say(claimed_did(1), {kind::names_host, {}});
  EXPECT_THAT(x.confirmed, testing::ElementsAre(claimed_did(0)));
  EXPECT_EQ(x.pages.size(), 1u) << "and not a third time";
  EXPECT_EQ(x.machine.bytes(), 0u);
}

// An account that is listed as inactive is tracked as well, and most deleted
// accounts are listed so. The second look-up is made once an hour
// (limits::gone_claim_interval).
TEST(claims, who_is_inactive_and_gone_is_looked_up_a_second_time_in_an_hour) {
  directory x;
  const auto count = limits::claims_judged_min + 1;
  const auto inactive = claims_of(0, count, false);
  x.page(of_pds, inactive);
  x.say_all({kind::names_host, {}, x.wall.seconds()});
  EXPECT_TRUE(x.pages.empty());
  x.pass_retry();
  size_t anew = 0;
  for (; anew < x.anew.size(); ++anew)
    x.say(atproto::did{x.anew[anew]}, {kind::names_host, {}});
  EXPECT_EQ(anew, count);
  ASSERT_EQ(x.pages.size(), 1u);
  EXPECT_TRUE(x.pages[0].trusted) << "it may list them";
  constexpr auto interval
    = std::chrono::seconds{limits::gone_claim_interval}.count();
  x.page(of_pds, inactive);
  x.say_all({kind::names_host, {}, x.wall.seconds() - (interval - 1)});
  EXPECT_EQ(x.pages.size(), 2u) << "known from before";
  x.page(of_pds, inactive);
  const auto asked = x.anew.size();
  x.say_all({kind::names_host, {}, x.wall.seconds() - interval});
  EXPECT_EQ(x.pages.size(), 2u) << "the directory may have been wrong";
  x.pass_retry();
  EXPECT_GT(x.anew.size(), asked);
}

// An account that was found in the end does not count against its listing.
TEST(claims, a_listing_of_late_documents_is_trusted) {
  directory x;
  for (size_t i = 0; i < 3; ++i) {
    x.page(of_pds, claims_of(100 * i, limits::claims_judged_min - 1));
    x.say_all({kind::missing, {}});
    x.pass_retry();
    x.say_all({kind::names_host, its_host});
    ASSERT_EQ(x.pages.size(), i + 1);
    EXPECT_TRUE(x.pages.back().trusted);
  }
}

// protocol-coverage.md 2.5.6: the account moved, or the document was wrong
TEST(claims, a_document_from_before_the_claim_is_looked_up_anew) {
  directory x;
  x.page(of_pds, claims_of(0, 1));
  x.say(claimed_did(0), {kind::names_host, "https://old.test",
                         x.wall.seconds() - 60});
  EXPECT_TRUE(x.pages.empty());
  EXPECT_THAT(x.anew, testing::ElementsAre(claimed_did(0)));
  x.say(claimed_did(0), {kind::names_host, its_host});
  EXPECT_EQ(x.confirmed.size(), 1u);
  x.page(of_pds, claims_of(1, 1, false));
  x.say(claimed_did(1), {kind::names_host, "https://old.test",
                         x.wall.seconds() - 60});
  EXPECT_EQ(x.anew.size(), 1u) << "its listing says that it is not there";
  EXPECT_EQ(x.pages.size(), 2u);
}

// No listing is blamed when the directory is wrong.
TEST(claims, a_directory_that_has_lost_all_is_no_fault_of_a_listing) {
  directory x;
  x.is_right = false;
  x.page(of_pds, claims_of(0, 200));
  for (size_t i = 0; i < limits::claims_judged_min; ++i)
    x.say(x.next(), {kind::missing, {}});
  ASSERT_EQ(x.pages.size(), 1u);
  EXPECT_FALSE(x.pages[0].trusted);
  EXPECT_FALSE(x.pages[0].proved);
  EXPECT_EQ(x.machine.bytes(), 0u);
  x.is_right = true;
  x.say_all({kind::missing, {}}); // No claim waits any more.
  x.page(of_pds, claims_of(0, 200));
  while (x.machine.bytes() > 0)
    x.say_all({kind::names_host, its_host});
  EXPECT_TRUE(x.pages.back().trusted);
  EXPECT_EQ(x.confirmed.size(), 200u);
}

TEST(claims, one_proof_is_asked_for_at_a_time) {
  directory x;
  size_t proofs = 0;
  for (const auto& what : {of_pds, of_other})
    x.machine.on_page(what, its_host, claims_of(what.upstream * 1'000, 100),
                      x.now, x.wall);
  for (size_t i = 0; i < 100; ++i)
    for (const auto first : {1'000u, 2'000u})
      proofs
        += x.machine
             .on_word(claimed_did(first + i), {kind::missing, {}, 0}, x.now)
             .prove;
  EXPECT_EQ(proofs, 1u);
  const auto out = x.machine.on_proof(true, x.now);
  ASSERT_EQ(out.pages.size(), 2u);
  EXPECT_TRUE(out.pages[0].proved);
}

} // namespace

// protocol-coverage.md 2.5.6: what proves the directory
TEST(claims, only_the_new_document_of_that_account_is_a_proof) {
  const auto known = claimed_did(500);
  const auto pages_after = [&](std::vector<identity_answer> answers) {
    directory x;
    auto out = x.machine.on_page(of_pds, its_host, claims_of(0, 100), x.now,
                                 x.wall);
    for (size_t i = 0; i < limits::claims_judged_min; ++i)
      out = x.machine.on_word(claimed_did(i), {kind::missing, {}, 0}, x.now);
    EXPECT_TRUE(out.prove);
    EXPECT_TRUE(x.machine.on_proving(known, 7, x.now).pages.empty());
    for (const auto& each : answers)
      x.take(x.machine.on_answer(each, x.now));
    return x.pages;
  };
  identity_answer proof;
  proof.repo = known;
  proof.asked = 7;
  proof.fact->pds = its_host;
  EXPECT_THAT(pages_after({proof, proof}), testing::SizeIs(1));
  EXPECT_TRUE(pages_after({proof})[0].proved);
  auto other = proof;
  other.repo = claimed_did(501);
  auto earlier = proof;
  earlier.asked = 6;
  auto is_known = proof;
  is_known.settled = false;
  EXPECT_THAT(pages_after({other, earlier, is_known}), testing::IsEmpty());
  auto gone = proof;
  gone.fact->tombstoned = true;
  auto without_host = proof;
  without_host.fact->pds.clear();
  auto failed = proof;
  failed.fact = fail(ec::unreachable);
  for (const auto& each : {gone, without_host, failed})
    EXPECT_FALSE(pages_after({each}).at(0).proved);
}

TEST(claims, without_a_known_account_nothing_is_proved) {
  directory x;
  x.machine.on_page(of_pds, its_host, claims_of(0, 100), x.now, x.wall);
  for (size_t i = 0; i < limits::claims_judged_min; ++i)
    x.machine.on_word(claimed_did(i), {kind::missing, {}, 0}, x.now);
  const auto out = x.machine.on_proving(std::nullopt, 7, x.now);
  ASSERT_EQ(out.pages.size(), 1u);
  EXPECT_FALSE(out.pages[0].proved);
}

// `limits::claims_web_max`: did:web names of hosts that hang
TEST(claims, hosts_that_hang_leave_places_to_names_of_the_directory) {
  directory x;
  const auto web_claims = [](const std::string& from) {
    std::vector<claims_machine::claim> out;
    for (size_t i = 0; i < 20; ++i)
      out.push_back({atproto::did::trusted("did:web:" + from
                                           + std::to_string(i) + ".test"),
                     true});
    return out;
  };
  x.page(of_pds, web_claims("a"), "https://a.test");
  EXPECT_EQ(x.asked.size(), limits::claims_web_max);
  x.page(of_other, web_claims("b"), "https://b.test");
  EXPECT_EQ(x.asked.size(), limits::claims_web_max) << "of all listings";
  auto mixed = web_claims("c");
  for (auto& each : claims_of(0, 20))
    mixed.push_back(std::move(each));
  x.page({3, {}}, std::move(mixed));
  EXPECT_EQ(x.asked.size(),
            limits::claims_web_max + limits::claims_asked_share);
  const auto hung = x.next();
  x.say(hung, {kind::away, {}, 0});
  EXPECT_TRUE(document_is_foreign(x.asked.back())) << "one more has its turn";
  EXPECT_EQ(x.asked.size(),
            limits::claims_web_max + limits::claims_asked_share);
}

// A listing with both kinds of names is read to its end.
TEST(claims, both_kinds_of_names_have_turns) {
  directory x;
  auto mixed = claims_of(0, 10);
  for (size_t i = 0; i < 10; ++i)
    mixed.push_back(
      {atproto::did::trusted("did:web:" + std::to_string(i) + ".test"), true});
  x.page(of_pds, std::move(mixed));
  EXPECT_EQ(x.say_all({kind::names_host, its_host, 0}), 20u);
  EXPECT_EQ(x.pages.size(), 1u);
  EXPECT_EQ(x.confirmed.size(), 20u);
}

} // namespace weir::tests::claims
