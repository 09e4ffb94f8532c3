#include "wire/limits.hpp"
#include "wire/repos_api.hpp"
#include "wire/repos_request_reader.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

// SYNC-01, SYNC-29 to SYNC-36.
namespace weir::tests {

namespace {

namespace json = boost::json;

const std::string ann = "did:plc:" + std::string(24, 'a');
const std::string bob = "did:web:bob.example.com";

/// Reads `body` in pieces of `piece` bytes.
result<wire::repos_request> read_request(std::string_view body,
                                         size_t piece = SIZE_MAX) {
  wire::repos_request_reader reader;
  for (; !body.empty(); body.remove_prefix(std::min(piece, body.size())))
    reader.put(body.substr(0, piece));
  return reader.finish();
}

ec code_of(std::string_view body) {
  const auto x = read_request(body);
  return x ? ec::none : x.error().code;
}

} // namespace

TEST(ReposRequest, NamesRepos) {
  const auto x = read_request(
    R"({"dids":[")" + ann + R"(",")" + bob + R"("]})");
  ASSERT_TRUE(x) << x.error().context;
  ASSERT_EQ(x->dids.size(), 2u);
  EXPECT_EQ(x->dids[0].str(), ann);
  EXPECT_EQ(x->dids[1].str(), bob);
  EXPECT_TRUE(x->collections.empty());
}

TEST(ReposRequest, NamesEachRepoOnce) {
  const auto x = read_request(R"({"dids":[")" + ann + R"(",")"
                                           + ann + R"("]})");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->dids.size(), 1u);
}

TEST(ReposRequest, ARefusalNamesSoManyBadDidsAndSoMuchOfEach) {
  const auto refusal = [](size_t count, size_t size) {
    json::array dids;
    for (size_t i = 0; i < count; ++i)
      dids.emplace_back(std::string(size, static_cast<char>('a' + i)));
    const auto x = read_request(
      json::serialize(json::object{{"dids", std::move(dids)}}));
    return x ? std::string{} : x.error().context;
  };
  const auto shown = [](char c) {
    return '"' + std::string(limits::named_did_bytes_max, c) + '"';
  };
  constexpr auto last = static_cast<char>('a' + limits::named_dids_max - 1);
  for (const size_t more : {0, 1}) {
    const auto text = refusal(limits::named_dids_max + more,
                              limits::named_did_bytes_max + more);
    EXPECT_NE(text.find(shown('a')), std::string::npos) << text;
    EXPECT_NE(text.find(shown(last)), std::string::npos) << text;
    EXPECT_EQ(text.find(shown(last + 1)), std::string::npos) << text;
    EXPECT_EQ(text.find("...; a DID is such as ") != std::string::npos, more == 1)
      << text;
    EXPECT_TRUE(text.ends_with("and no handle")) << text;
  }
}

TEST(ReposRequest, MayBeEmpty) {
  const auto x = read_request(R"({"dids":[]})");
  ASSERT_TRUE(x);
  EXPECT_TRUE(x->dids.empty());
}

TEST(ReposRequest, MayNarrowTheFilterOfItsRepos) {
  const auto x = read_request(
    R"({"dids":[")" + ann + R"("],"collections":["fm.teal.*","a.b.c"]})");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->collections, (std::vector<std::string>{"a.b.c", "fm.teal.*"}));
  EXPECT_EQ(code_of(R"({"dids":[],"collections":["fm.*.x"]})"),
            ec::invalid_argument);
  EXPECT_EQ(code_of(R"({"dids":[],"collections":"fm.teal.*"})"),
            ec::invalid_argument);
}

TEST(ReposRequest, WithOneBadDidIsRefusedAndNamesIt) {
  for (const std::string bad :
       {"", "ann.test", "did:plc:short", "did:key:zabc", "did:web:a b",
        "DID:PLC:AAAAAAAAAAAAAAAAAAAAAAAA"}) {
    const auto x = read_request(R"({"dids":[")" + ann + R"(",")"
                                             + bad + R"("]})");
    ASSERT_FALSE(x) << bad;
    EXPECT_EQ(x.error().code, ec::invalid_argument);
    EXPECT_NE(x.error().context.find('"' + bad + '"'), std::string::npos)
      << x.error().context;
  }
}

TEST(ReposRequest, ThatIsNoneIsRefused) {
  for (const auto* text : {"", "null", "[]", "7", "{", R"({"dids":[]}x)",
                           "\xff", "[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]"})
    EXPECT_EQ(code_of(text), ec::malformed) << text;
  for (const auto* text : {"{}", R"({"dids":null})", R"({"dids":"did:plc:a"})",
                           R"({"dids":[7]})", R"({"dids":{}})"})
    EXPECT_EQ(code_of(text), ec::invalid_argument) << text;
}

TEST(ReposRequest, TakesSoManyDidsAndNotOneMore) {
  std::string list;
  for (size_t i = 0; i < limits::request_dids_max; ++i)
    list += (i == 0 ? "\"" : ",\"") + ann + "\"";
  EXPECT_EQ(code_of(R"({"dids":[)" + list + "]}"), ec::none);
  EXPECT_EQ(code_of(R"({"dids":[)" + list + ",\"" + ann + "\"]}"),
            ec::limit_reached);
}

TEST(ReposRequest, MeansTheSameInWhateverPiecesItComes) {
  const std::string long_did = "did:web:" + std::string(300, 'a') + ".test";
  const std::vector<std::string> texts{
    R"({"dids":[")" + ann + R"(","\u0064id:web:bob.example.com"]})",
    R"( { "x\n" : [ 1.5e3 , -2, true, null, "dids" ], "dids" : [ ] } )",
    R"({"dids":[")" + ann + R"("],"collections":["a.b.c","d.e.*"]})",
    R"({"dids":[")" + long_did + R"("]})",
    R"({"dids":[7]})",
    R"({"dids":["\ud83d\ude00)" "\xf0\x9f\x98\x80\"]}",
    R"({"dids":[]} x)",
    R"({"dids":[],})"};
  for (const auto& text : texts) {
    const auto whole = read_request(text);
    for (size_t piece = 1; piece < text.size(); ++piece) {
      const auto x = read_request(text, piece);
      ASSERT_EQ(x.has_value(), whole.has_value()) << text << piece;
      if (!x) {
        EXPECT_EQ(x.error().context, whole.error().context);
      } else {
        EXPECT_EQ(x->dids, whole->dids);
        EXPECT_EQ(x->collections, whole->collections);
      }
    }
  }
}

// It would not be clear which of them counts.
TEST(ReposRequest, RefusesMembersThatComeTwice) {
  for (const auto& text :
       {R"({"dids":[")" + ann + R"("],"dids":[]})",
        std::string{R"({"dids":[],"dids":7})"},
        std::string{R"({"dids":7,"dids":[]})"}}) {
    const auto x = read_request(text);
    ASSERT_FALSE(x) << text;
    EXPECT_EQ(x.error().code, ec::invalid_argument);
    EXPECT_EQ(x.error().context, "\"dids\" is there twice");
  }
  EXPECT_EQ(code_of(R"({"collections":[],"dids":[],"collections":[]})"),
            ec::invalid_argument);
}

TEST(ReposRequest, ReadsListsAtTheirPlaceOnly) {
  for (const auto* text : {R"([{"dids":[]}])", R"("dids")"})
    EXPECT_EQ(code_of(text), ec::malformed) << text;
  for (const auto* text :
       {R"({"x":{"dids":[]}})", R"({"dids":[["did:web:a.test"]]})",
        R"({"dids":{"dids":[]}})", R"({"dids":[],"collections":[{}]})",
        R"({"dids":[],"collections":null})"})
    EXPECT_EQ(code_of(text), ec::invalid_argument) << text;
}

// A member that is accepted and ignored would look as if it had an effect.
TEST(ReposRequest, AMemberThatNobodyReadsIsRefusedAndNamed) {
  const auto refusal = [](std::string_view body) {
    const auto x = read_request(body);
    return x ? std::string{} : x.error().context;
  };
  EXPECT_EQ(refusal(R"({"x":{"dids":["bad"]},"dids":[],"y":["bad"]})"),
            R"(there is no member "x" here; it takes dids, collections)");
  EXPECT_EQ(refusal(R"({"dids":[],"colections":["a.b.*"]})"),
            R"(there is no member "colections" here; did you mean )"
            R"("collections"?)");
  const std::string much(10'000, 'x');
  EXPECT_EQ(refusal(R"({"dids":[],")" + much + R"(":1})"),
            R"(there is no member ")" + much.substr(0, 64)
              + R"(" here; it takes dids, collections)");
}

TEST(ReposRequest, CollectionsBelongToAdditions) {
  wire::repos_request_reader removal{wire::did_members};
  removal.put(R"({"dids":[],"collections":["a.b.*"]})");
  const auto x = removal.finish();
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().context,
            R"(there is no member "collections" here; it takes dids)");
}

TEST(ReposRequest, HoldsWhatItNamesAndNothingElse) {
  wire::repos_request_reader reader;
  const std::string much(10'000, 'x');
  reader.put(R"({"x":[")" + much + R"(",{")"
             + much + R"(":1}],"dids":["no","no","no"],"collections":[],"y":")"
             + much + R"(","dids":[)");
  EXPECT_EQ(reader.held_bytes(), 0u);
  reader.put('"' + ann + '"');
  EXPECT_GE(reader.held_bytes(), ann.size());
  const auto one = reader.held_bytes();
  for (size_t i = 1; i < limits::request_dids_max; ++i)
    reader.put(",\"" + ann + '"');
  EXPECT_LE(reader.held_bytes(), 2 * one * limits::request_dids_max);
  reader.put(",\"" + ann + '"');
  EXPECT_EQ(reader.held_bytes(), 0u) << "it is refused";
}

TEST(ReposRequest, TakesSoManyPatternsAndNotOneMore) {
  std::string list;
  for (size_t i = 0; i < limits::filter_patterns_max; ++i)
    list += (i == 0 ? "\"a.b.c" : ",\"a.b.c") + std::to_string(i) + '"';
  const std::string start = R"({"dids":[],"collections":[)";
  EXPECT_EQ(code_of(start + list + "]}"), ec::none);
  EXPECT_EQ(code_of(start + list + R"(,"a.b.d"]})"), ec::limit_reached);
}

TEST(ReposRequest, NestsSoDeepAndNotDeeper) {
  const auto nested = [](size_t depth) {
    // The object itself is the first level.
    return R"({"dids":[],"x":)" + std::string(depth - 1, '[')
           + std::string(depth - 1, ']') + "}";
  };
  EXPECT_EQ(code_of(nested(limits::json_depth_max)), ec::invalid_argument)
    << "it is read, and nobody knows x";
  EXPECT_EQ(code_of(nested(limits::json_depth_max + 1)), ec::malformed);
}

TEST(ConfigView, ShowsEverySetting) {
  const std::vector<std::string> collections{"a.b.c", "fm.teal.*"};
  std::string out;
  wire::append_config({wire::sync_mode::full_network, {}, collections}, out);
  EXPECT_EQ(out, R"({"mode":"full-network","signal_collection":null,)"
                 R"("collections":["a.b.c","fm.teal.*"]})");
  out.clear();
  const std::vector<std::string> one{"a.b.c"};
  wire::append_config({wire::sync_mode::signal, one, {}}, out);
  EXPECT_EQ(out, R"({"mode":"signal","signal_collection":"a.b.c",)"
                 R"("collections":[]})");
  out.clear();
  wire::append_config({wire::sync_mode::signal, collections, {}}, out);
  EXPECT_EQ(out, R"({"mode":"signal","signal_collection":"a.b.c",)"
                 R"("signal_collections":["a.b.c","fm.teal.*"],)"
                 R"("collections":[]})");
}

TEST(ReposList, LeavesOutWhatIsUnset) {
  std::string out;
  wire::append_repo({ann, "pending", {}, 0, 0, {}, 0, 0, {}}, out);
  EXPECT_EQ(out, R"({"did":")" + ann
                   + R"(","status":"pending","record_count":0,)"
                     R"("retry_count":0})");
}

// completeness.md, Asking: the result, and why it does not hold
TEST(ReposList, SaysWhetherACopyIsWholeAndWhyNot) {
  wire::repo_view x{ann, "synced", {}, 0, 0, {}, 0, 0, {}};
  x.complete = false;
  x.reason = "a \"bad\" host";
  std::string out;
  wire::append_repo(x, out);
  const auto said = json::parse(out).as_object();
  EXPECT_FALSE(said.at("complete").as_bool());
  EXPECT_EQ(said.at("reason").as_string(), "a \"bad\" host");
  x.complete = true;
  x.reason = {};
  out.clear();
  wire::append_repo(x, out);
  EXPECT_TRUE(json::parse(out).as_object().at("complete").as_bool());
  EXPECT_FALSE(json::parse(out).as_object().contains("reason"));
}

TEST(ReposList, ShowsEveryFieldOfARepo) {
  const std::vector<std::string> collections{"a.b.c"};
  std::string out;
  wire::append_repo({ann, "error", *atproto::tid::parse("3jzfcijpj2z2a"), 12,
                     1'700'000'000, "a \"bad\" host", 3, 1'700'000'480,
                     collections},
                    out);
  const auto x = json::parse(out).as_object();
  EXPECT_EQ(x.at("did").as_string(), ann);
  EXPECT_EQ(x.at("status").as_string(), "error");
  EXPECT_EQ(x.at("rev").as_string(), "3jzfcijpj2z2a");
  EXPECT_EQ(x.at("record_count").as_int64(), 12);
  EXPECT_EQ(x.at("last_sync").as_int64(), 1'700'000'000);
  EXPECT_EQ(x.at("error").as_string(), "a \"bad\" host");
  EXPECT_EQ(x.at("retry_count").as_int64(), 3);
  EXPECT_EQ(x.at("next_retry").as_int64(), 1'700'000'480);
  EXPECT_EQ(x.at("collections").as_array().size(), 1u);
}

TEST(ReposList, IsPaged) {
  const std::vector<wire::repo_view> repos{
    {ann, "synced", {}, 1, 0, {}, 0, 0, {}},
    {bob, "synced", {}, 2, 0, {}, 0, 0, {}}};
  std::string out;
  wire::append_repos(repos, "next", out);
  auto x = json::parse(out).as_object();
  EXPECT_EQ(x.at("repos").as_array().size(), 2u);
  EXPECT_EQ(x.at("cursor").as_string(), "next");
  out.clear();
  wire::append_repos({}, "", out);
  EXPECT_EQ(out, R"({"repos":[]})");
}

} // namespace weir::tests
