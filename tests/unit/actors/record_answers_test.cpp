#include "tests/unit/actors/answers_fixture.hpp"

// Answers with the records of one repo: docs/api.md, `GET
// /v1/repos/:did/records` and the route after it.

namespace weir::tests {
namespace {

using namespace weir::actors;
namespace json = boost::json;

class RecordAnswersTest : public AnswersFixture {};

std::vector<std::string> uris_of(const json::object& page) {
  std::vector<std::string> out;
  for (const auto& x : page.at("records").as_array()) {
    const std::string uri{x.at("uri").as_string()};
    out.push_back(uri.substr(uri.find('/', 5) + 1));
  }
  return out;
}

} // namespace

TEST_F(RecordAnswersTest, RecordsComeInTheOrderOfTheirPathsPageByPage) {
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/2", record("2")},
                             {"app.a.x/3jzfcijpj2z2a", record("tid")},
                             {"app.a.x/self", "no record", true},
                             {"app.b.y/1", record("b")}}));
  const std::vector<std::string> all{"app.a.x/2", "app.a.x/3jzfcijpj2z2a",
                                     "app.a.x/self", "app.b.y/1"};
  const auto whole = parse(records(alice, {}));
  EXPECT_EQ(uris_of(whole), all);
  EXPECT_EQ(whole.at("status"), "synced");
  EXPECT_EQ(whole.at("rev").as_string(), alice.chain->rev.str());
  EXPECT_EQ(whole.at("records").as_array()[2].at("content"), "invalid");
  for (const size_t limit : {1u, 3u, 4u}) {
    std::vector<std::string> found;
    records_request x;
    x.limit = limit;
    for (bool more = true; more;) {
      const auto page = parse(records(alice, x));
      for (const auto& uri : uris_of(page))
        found.push_back(uri);
      more = page.contains("cursor");
      ASSERT_LE(found.size(), all.size());
      EXPECT_EQ(more, found.size() < all.size());
      if (more) {
        const std::string cursor{page.at("cursor").as_string()};
        const auto parts = atproto::split_path(cursor);
        x.after_collection = parts.collection;
        x.after_rkey = parts.rkey;
      }
    }
    EXPECT_EQ(found, all) << limit;
  }
  records_request only;
  only.collection = "app.a.x";
  only.limit = 3;
  const auto page = parse(records(alice, only));
  EXPECT_EQ(uris_of(page).size(), 3u);
  EXPECT_FALSE(page.contains("cursor"));
  only.collection = "app.none";
  EXPECT_TRUE(uris_of(parse(records(alice, only))).empty());
}

TEST_F(RecordAnswersTest, ARecordIsReadAsItIsAndAsItWas) {
  write_a_little();
  const record_path path{"app.a.x", "1"};
  const auto first = atproto::tid{alice.chain->rev.value() - 1};
  const auto now = parse(record_reply(*shared, alice.repo, path));
  EXPECT_EQ(now.at("record").at("t"), "three");
  EXPECT_EQ(now.at("as_of").as_string(), alice.chain->rev.str());
  const auto past
    = parse(past_record_reply(*shared, alice.repo, path, first, {}));
  EXPECT_EQ(past.at("record").at("t"), "one");
  EXPECT_EQ(past.at("rev").as_string(), first.str());
  const auto at = [&](const std::string& collection, const std::string& rkey,
                      atproto::tid rev) {
    return past_record_reply(*shared, alice.repo, {collection, rkey}, rev, {});
  };
  EXPECT_EQ(error_of(at("app.b.y", "1", alice.chain->rev)),
            "404 RecordNotFound");
  EXPECT_NE(text_of(at("app.b.y", "1", alice.chain->rev)).find("deleted"),
            std::string::npos);
  EXPECT_EQ(error_of(at("app.a.x", "2", first)), "404 RecordNotFound");
  EXPECT_NE(text_of(at("app.a.x", "2", first)).find("did not exist"),
            std::string::npos);
  EXPECT_EQ(error_of(at("app.a.x", "1", atproto::tid{first.value() - 1})),
            "404 HistoryUnknown");
  EXPECT_EQ(error_of(record_reply(*shared, alice.repo, {"app.b.y", "1"})),
            "404 RecordNotFound");
}

} // namespace weir::tests
