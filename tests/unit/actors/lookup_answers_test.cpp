#include "actors/identity/lookup_answers.hpp"

#include <gtest/gtest.h>

// protocol-coverage.md 8: what answers of servers mean
namespace weir::tests::lookups {
namespace {

using namespace std::chrono_literals;
using namespace weir::actors;
using atproto::did;

const auto ann = did::trusted("did:plc:ewvi7nxzyoun6zhxrhs64oiz");
const auto web = did::trusted("did:web:example.com");
const error silent{ec::unreachable, "no answer"};

ec code_of(const did& repo, const result<lookup_answer>& x) {
  return document_in(repo, x).doc.error().code;
}

} // namespace

// protocol-coverage.md 8.1
TEST(lookup_answers, a_document_is_the_dids_or_the_directory_is_away) {
  const auto text = R"({"id":")" + ann.str() + R"("})";
  EXPECT_EQ(code_of(ann, lookup_answer{200, text}), ec::none);
  EXPECT_EQ(code_of(ann, lookup_answer{200, "<html>"}), ec::unreachable);
  EXPECT_EQ(code_of(web, lookup_answer{200, "<html>"}), ec::malformed);
  EXPECT_EQ(code_of(ann, lookup_answer{200, "{}"}), ec::unreachable);
  EXPECT_EQ(code_of(web, lookup_answer{200, text}), ec::verification_failed);
  EXPECT_EQ(code_of(web, lookup_answer{500, text}), ec::unreachable);
  for (const auto code : {ec::invalid_argument, ec::not_found})
    EXPECT_EQ(code_of(ann, fail(code, "a redirect")), ec::unreachable);
  EXPECT_EQ(code_of(web, fail(ec::not_found)), ec::unreachable);
  EXPECT_EQ(code_of(web, fail(ec::invalid_argument)), ec::invalid_argument);
}

// protocol-coverage.md 8.1
TEST(lookup_answers, a_did_is_gone_or_unknown_in_the_words_of_a_directory) {
  EXPECT_TRUE(document_in(ann, lookup_answer{410, "{}"}).gone);
  EXPECT_FALSE(document_in(ann, lookup_answer{410, " \n<html>"}).gone);
  EXPECT_TRUE(document_in(web, lookup_answer{410, " \n<html>"}).gone);
  const lookup_answer not_available{404, "DID not available: "};
  EXPECT_TRUE(document_in(ann, not_available).gone);
  EXPECT_FALSE(document_in(web, not_available).gone);
  const lookup_answer unknown{404, "DID not registered: "};
  EXPECT_EQ(code_of(ann, unknown), ec::not_found);
  EXPECT_FALSE(document_in(ann, unknown).is_foreign);
  EXPECT_TRUE(document_in(ann, lookup_answer{404, ""}).is_foreign);
  EXPECT_FALSE(document_in(web, lookup_answer{404, ""}).is_foreign);
}

// architecture.md, Health
TEST(lookup_answers, a_look_up_shows_whether_the_directory_does_its_work) {
  using enum look_up_fault;
  identity_document x;
  const auto fault = [&x] {
    return outcome_of(x).fault;
  };
  x.doc->signing_key = "zKey";
  x.doc->pds = "https://a.test";
  EXPECT_EQ(fault(), none);
  EXPECT_EQ(outcome_of(x).text, "");
  x.doc->pds = "";
  EXPECT_EQ(outcome_of(x).text, "the document names no PDS");
  x.doc->signing_key = "";
  EXPECT_EQ(outcome_of(x).text, "the document has no usable signing key");
  x.gone = true;
  EXPECT_EQ(outcome_of(x).text, "the DID is tombstoned");
  EXPECT_EQ(fault(), unusable);
  x.doc = fail(ec::limit_reached, "too large");
  EXPECT_EQ(fault(), unusable);
  EXPECT_EQ(outcome_of(x).text, "limit_reached: too large");
  x.doc = fail(ec::not_found, "so");
  EXPECT_EQ(fault(), unknown);
  x.is_foreign = true;
  EXPECT_EQ(fault(), foreign);
  EXPECT_EQ(outcome_of(x).text,
            "not_found: so, in words that no directory uses");
  x.doc = fail(ec::unreachable);
  EXPECT_EQ(fault(), unreachable);
  x.limited = 1s;
  EXPECT_EQ(fault(), limited);
}

// architecture.md, Health: a directory keeps every document
TEST(lookup_answers, a_did_that_had_a_document_is_lost_when_it_is_unknown) {
  storage::identity_row row;
  for (const auto fault : {look_up_fault::unknown, look_up_fault::foreign}) {
    const document_outcome x{fault};
    EXPECT_TRUE(x.is_unknown());
    EXPECT_EQ(x.fault_beside(std::nullopt), fault);
    row.tombstoned = false;
    EXPECT_EQ(x.fault_beside(row), look_up_fault::lost);
    row.tombstoned = true;
    EXPECT_EQ(x.fault_beside(row), fault);
  }
  EXPECT_FALSE(document_outcome{look_up_fault::unusable}.is_unknown());
  EXPECT_FALSE(document_outcome{}.is_unknown());
  EXPECT_TRUE(is_of_directory(ann));
  EXPECT_FALSE(is_of_directory(web) || is_of_directory(did::trusted("did:x")));
}

TEST(lookup_answers, who_limits_us_says_for_how_long) {
  EXPECT_EQ(document_in(ann, lookup_answer{429, ""}).limited, 0s);
  EXPECT_EQ(document_in(web, lookup_answer{429, "", 30s}).limited, 30s);
  EXPECT_FALSE(document_in(ann, lookup_answer{503, "", 30s}).limited);
}

// architecture.md, A wrong clock
TEST(lookup_answers, only_the_directory_tells_the_time) {
  const lookup_answer dated{404, "", {}, wall_time{5}};
  EXPECT_EQ(document_in(ann, dated).date, wall_time{5});
  EXPECT_FALSE(document_in(web, dated).date);
}

TEST(lookup_answers, a_page_of_the_export_comes_with_status_200) {
  export_page page;
  note_refusal(lookup_answer{200, "{}"}, page);
  EXPECT_TRUE(page.operations.has_value());
  note_refusal(lookup_answer{429, "", 30s}, page);
  EXPECT_EQ(page.operations.error().code, ec::unreachable);
  EXPECT_EQ(page.limited, 30s);
  page = {};
  note_refusal(lookup_answer{404, "", 30s}, page);
  EXPECT_EQ(page.operations.error().code, ec::unreachable);
  EXPECT_FALSE(page.limited);
  note_refusal(fail(ec::limit_reached), page);
  EXPECT_EQ(page.operations.error().code, ec::limit_reached);
}

// protocol-coverage.md 0.6, 8.9
TEST(lookup_answers, a_resolver_is_asked_in_place_of_dns_and_host) {
  using enum handle_source;
  EXPECT_EQ(source_of("ann.example", false, false), dns);
  EXPECT_EQ(source_of("ann.example", true, false), resolver);
  EXPECT_EQ(source_of("ann.bsky.social", false, false), own_host);
  EXPECT_EQ(source_of("ann.bsky.social", true, false), resolver);
  EXPECT_EQ(source_of("bsky.social", false, false), dns);
  for (const auto has_resolver : {false, true})
    EXPECT_EQ(source_of("ann.test", has_resolver, false), none);
  EXPECT_EQ(source_of("ann.test", true, true), resolver);
  EXPECT_EQ(source_of("ann.test", false, true), dns);
}

// protocol-coverage.md 8.7
TEST(lookup_answers, two_dids_in_dns_are_none) {
  using values = std::vector<std::string>;
  EXPECT_FALSE(owner_in_dns(values{}));
  EXPECT_FALSE(owner_in_dns(values{"v=spf1"}));
  EXPECT_FALSE(owner_in_dns(silent));
  const auto own = "did=" + ann.str();
  EXPECT_EQ(owner_in_dns(values{"v=spf1", own, own})->value(), ann);
  const auto two = owner_in_dns(values{own, "did=" + web.str()});
  ASSERT_TRUE(two);
  EXPECT_EQ(two->error().code, ec::not_found);
  const auto nonsense = owner_in_dns(values{"did=nonsense"});
  ASSERT_TRUE(nonsense);
  EXPECT_EQ(nonsense->error().code, ec::not_found);
}

// protocol-coverage.md 8.7
TEST(lookup_answers, a_file_names_the_owner_with_blanks_around_it) {
  const auto text = "\t " + ann.str() + "\r\n";
  EXPECT_EQ(owner_in_file(lookup_answer{203, text}, {}).value(), ann);
  EXPECT_EQ(owner_in_file(lookup_answer{203, text}, silent).value(), ann);
  const auto code = [](const result<lookup_answer>& x, const error& dns = {}) {
    return owner_in_file(x, dns).error().code;
  };
  EXPECT_EQ(code(lookup_answer{302, text}), ec::not_found);
  EXPECT_EQ(code(lookup_answer{404, text}), ec::not_found);
  EXPECT_EQ(code(lookup_answer{503, text}), ec::unreachable);
  EXPECT_EQ(code(lookup_answer{200, " \n"}), ec::not_found);
  EXPECT_EQ(code(fail(ec::not_found)), ec::not_found);
  EXPECT_EQ(code(fail(ec::limit_reached)), ec::limit_reached);
  EXPECT_EQ(code(lookup_answer{404, ""}, fail(ec::not_found)), ec::not_found);
  EXPECT_EQ(code(lookup_answer{404, ""}, silent), ec::unreachable);
  EXPECT_EQ(code(fail(ec::not_found), silent), ec::unreachable);
  EXPECT_EQ(code(fail(ec::limit_reached), silent), ec::limit_reached);
}

TEST(lookup_answers, a_resolver_answers_in_its_own_words) {
  const auto heard = [](const result<lookup_answer>& x) {
    identity_handle out{ann, "ann.example"};
    take_resolved(x, out);
    return std::pair{out.resolver, out.owner.error().code};
  };
  using enum resolver_answer;
  const auto own = R"({"did":")" + ann.str() + R"("})";
  const std::pair nobodys{given, ec::not_found};
  const std::pair away{none, ec::unreachable};
  EXPECT_EQ(heard(lookup_answer{200, own}), (std::pair{given, ec::none}));
  EXPECT_EQ(heard(lookup_answer{200, "{}"}), nobodys);
  EXPECT_EQ(heard(lookup_answer{400, "{}"}), nobodys);
  EXPECT_EQ(heard(lookup_answer{404, R"({"error":"HandleNotFound"})"}),
            nobodys);
  EXPECT_EQ(heard(lookup_answer{404, "{}"}), (std::pair{none, ec::not_found}));
  EXPECT_EQ(heard(lookup_answer{200, "<html>"}), away);
  EXPECT_EQ(heard(lookup_answer{429, own}), away);
  EXPECT_EQ(heard(lookup_answer{500, own}), away);
  EXPECT_EQ(heard(fail(ec::not_found)), away);
}

} // namespace weir::tests::lookups
