#include "base/limits.hpp"
#include "storage/format/limits.hpp"
#include "storage/format/values.hpp"

#include "tests/unit/storage/codec_checks.hpp"
#include "tests/unit/storage/sample_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace weir::storage {

namespace {

using tests::sample_cid;

const tests::fixed_names names{"app.test.note", "app.test.like"};

/// Tests a codec with a round trip, every prefix, every flipped bit, and noise.
template <class Row>
void expect_codec(const Row& row, table in = {}) {
  const auto encoded = encode_value(row);
  EXPECT_EQ(encoded[0], 1) << "the format";
  const auto decode = [&](std::string_view x) {
    return decode_value<Row>(x, in);
  };
  const auto encode = [](const Row& x) {
    return encode_value(x);
  };
  const auto back = decode(encoded);
  ASSERT_TRUE(back) << back.error().context;
  EXPECT_EQ(encode(*back), encoded);
  tests::expect_whole_only(encoded, decode);
  tests::expect_canonical(encoded, decode, encode);
  tests::expect_survives_noise(11, decode);
}

} // namespace

TEST(ValuesTest, EveryRowRoundTripsAndRefusesDamage) {
  expect_codec(record_head{sample_cid, atproto::tid{99}, 1000, 500, true});
  expect_codec(record_head{});
  expect_codec(tests::sample_repo());
  expect_codec(repo_row{});
  expect_codec(member_row{2, {"app.test.note", "app.test.*"}});
  expect_codec(upstream_row{7, "wss://relay.example.com", true, 3, 1ull << 50,
                            12, true, stream_life::careful, 1ull << 51, 2,
                            1'700'000'000'000'000, true});
  expect_codec(upstream_row{});
  expect_codec(identity_row{"zQ3sh", "https://pds.example.com", "alice.test",
                            "bob.test", 1'700'000'000, true});
  expect_codec(
    consumer_row{{1000, 0, 7}, 0xfedcba9876543210, true, 900, 3, 50});
  expect_codec(dead_letter_row{3, "no answer", -1});
  expect_codec(filter_row{7, {"app.test.*", "app.test.note"}});
  expect_codec(
    erasure_row{1000, erasure_stage::streams, {1, 2, 3}, {{200, 900}}});
  expect_codec(holder_row{1000, true});
  expect_codec(stream_head_row{300, tests::digest_of_byte(3), 42});
  expect_codec(collection_row{"app.test.note", "https://pds.example.com",
                              "did:plc:ewvi7nxzyoun6zhxrhs64oiz"});
  expect_codec(stream_run{1000, 200});
  expect_codec(listing_row{"cursor", true, {7, 2, 12345}, 1'700'000'000});
  expect_codec(counter{300}, table::time_index);
  expect_codec(stored_bytes{{1, 2, 3}}, table::configuration);
  expect_codec(stored_bytes{}, table::configuration);
  expect_codec(waiting_row{{7, 2, 12345}, 11, true, {{1, 2, 3}}});
  expect_codec(waiting_row{});
}

// limits::partitions_max
TEST(ValuesTest, AConsumerHasAPositionForEachPartitionAndNoMore) {
  consumer_row row{std::vector<op_id>(limits::partitions_max, 9), 1, false};
  const auto most = decode_value<consumer_row>(encode_value(row));
  ASSERT_TRUE(most);
  EXPECT_EQ(most->positions, row.positions);
  auto more = encode_value(consumer_row{{}, 1, false});
  more[1] = static_cast<char>(0x81); // 257 positions, as a varint.
  more.insert(2, "\x02");
  more.insert(3, std::string(limits::partitions_max + 1, '\0'));
  EXPECT_FALSE(decode_value<consumer_row>(more));
}

// limits::upstreams_max
TEST(ValuesTest, AnAccountHasTheWordsOfEachUpstreamAndNoMore) {
  repo_row row;
  row.words.relays.resize(limits::upstreams_max - 1);
  const auto fewer = encode_value(row);
  row.words.relays.emplace_back();
  auto more = encode_value(row);
  const auto most = decode_value<repo_row>(more);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->words.relays.size(), limits::upstreams_max);
  // The number of words is the first thing that differs: 1,024, as a varint.
  const auto at = static_cast<size_t>(
    std::mismatch(fewer.begin(), fewer.end(), more.begin()).first
    - fewer.begin());
  ASSERT_EQ(more.substr(at, 2), "\x80\x08");
  more[at] = static_cast<char>(0x81);
  const auto refused = decode_value<repo_row>(more);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ec::storage_failure);
  EXPECT_TRUE(refused.error().context.ends_with(
    "an account has words of too many relays"));
}

TEST(ValuesTest, FieldsComeBackAsTheyWent) {
  const auto repo = *decode_value<repo_row>(encode_value(tests::sample_repo()));
  EXPECT_EQ(repo.status, repo_status::error);
  EXPECT_EQ(repo.account, account_status::suspended);
  EXPECT_EQ(repo.fcsr, (position{7, 2, 12345}));
  EXPECT_EQ(repo.first_rev, atproto::tid{11});
  EXPECT_EQ(repo.last_indexed_rev, atproto::tid{12});
  EXPECT_TRUE(repo.gap);
  EXPECT_EQ(repo.error, "it failed");
  EXPECT_EQ(repo.next_retry, 1'700'000'060);
  EXPECT_EQ(repo.resync_id, 0xfedcba9876543210);
  EXPECT_EQ(repo.words.host, account_status::active);
  EXPECT_TRUE(repo.words.asked);
  EXPECT_EQ(repo.words.host_at, (position{9, 1, 77}));
  ASSERT_EQ(repo.words.relays.size(), 2u);
  EXPECT_EQ(repo.words.relays[0].said, account_status::suspended);
  EXPECT_EQ(repo.words.relays[0].at, (position{7, 2, 12346}));
  EXPECT_TRUE(repo.words.tombstoned);
  EXPECT_EQ(repo.words.host_by, 7u);
  EXPECT_EQ(repo.erased_through, 900u);
  EXPECT_EQ(repo.handle, "alice.test");
  EXPECT_TRUE(repo.identity_due);
  EXPECT_EQ(repo.missed_rev, atproto::tid{13});
  EXPECT_EQ(repo.listed_rev, atproto::tid{14});
  EXPECT_EQ(repo.not_found_at, 1'700'000'001);
  EXPECT_EQ(repo.refused_by, 0x123456789abcdef0);
  EXPECT_EQ(repo.left_out_by, 7u);
  const auto head = *decode_value<record_head>(
    encode_value(record_head{sample_cid, atproto::tid{99}, 1000, 500, true}));
  EXPECT_EQ(head.id, sample_cid);
  EXPECT_EQ(head.rev, atproto::tid{99});
  EXPECT_EQ(head.op, 1000u);
  EXPECT_EQ(head.content, 500u);
  EXPECT_TRUE(head.referenced);
}

TEST(ValuesTest, NumbersOfEverySizeComeBack) {
  for (unsigned bits = 0; bits < 64; ++bits)
    for (const uint64_t x : {(1ull << bits) - 1, 1ull << bits}) {
      EXPECT_EQ(decode_value<counter>(encode_value(counter{x}))->value, x);
      const auto at = static_cast<int64_t>(x);
      for (const auto time : {at, ~at, std::numeric_limits<int64_t>::min()})
        EXPECT_EQ(decode_value<dead_letter_row>(
                    encode_value(dead_letter_row{0, "", time}))
                    ->at,
                  time);
    }
}

TEST(ValuesTest, EveryFormOfACidComesBack) {
  bytes v0{0x12, 0x20};
  v0.resize(34, 7);
  const bytes foreign{0x01, 0x71, 0x1e, 0x03, 1, 2, 3};
  for (const auto& id :
       {atproto::cid{}, sample_cid, atproto::cid::of_raw(as_bytes("blob")),
        atproto::cid::from_bytes(v0).value(),
        atproto::cid::from_bytes(foreign).value()}) {
    const auto back = decode_value<record_head>(
      encode_value(record_head{id, atproto::tid{1}, 2, 3, false}));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->id, id);
  }
}

TEST(ValuesTest, AnUnknownFormatIsRefused) {
  auto encoded = encode_value(counter{300});
  encoded[0] = 2;
  const auto back = decode_value<counter>(encoded, table::time_index);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, ec::storage_failure);
  EXPECT_EQ(back.error().context, "a value of the table time_index is damaged: "
                                  "its format is unknown");
}

TEST(ValuesTest, ALifeThatThisVersionLacksIsRefused) {
  upstream_row row;
  for (const int life : {0, 1, 3, 5}) {
    row.life = static_cast<stream_life>(life);
    EXPECT_EQ(decode_value<upstream_row>(encode_value(row)).has_value(),
              life == 1 || life == 3)
      << life;
  }
}

TEST(ValuesTest, ALifeWhoseCursorMovedIsSettled) {
  upstream_row row;
  row.life = static_cast<stream_life>(4);
  const auto back = decode_value<upstream_row>(encode_value(row));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->life, stream_life::settled);
}

TEST(ValuesTest, StoredBytesAreProvedByTheirChecksum) {
  const auto encoded = encode_value(stored_bytes{{1, 2, 3}});
  for (size_t bit = 0; bit < encoded.size() * 8; ++bit) {
    auto changed = encoded;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode_value<stored_bytes>(changed)) << "bit " << bit;
  }
}

/// The chain with streams in place of those that are only counted.
chain_row whole(const stored_chain& x) {
  auto out = x.chain;
  for (uint64_t i = 0; i < x.apart; ++i)
    out.streams.push_back(
      {"app.test.rare", i == 0 ? x.apart_operations : 0, {}, 0, true});
  return out;
}

TEST(ValuesTest, AChainNamesItsCollectionsByNumber) {
  const auto encoded = encode_chain(tests::sample_chain(), names);
  ASSERT_TRUE(encoded) << encoded.error().context;
  EXPECT_EQ(encoded->find("app.test.note"), std::string::npos);
  const auto back = decode_chain(*encoded, names);
  ASSERT_TRUE(back) << back.error().context;
  EXPECT_EQ(back->apart, 1u) << "counted, and not named";
  EXPECT_EQ(back->apart_operations, 120u);
  const auto& chain = back->chain;
  EXPECT_EQ(chain.find("app.test.rare"), nullptr);
  EXPECT_EQ(chain.index_base, 100u);
  EXPECT_EQ(chain.rev, atproto::tid{99});
  EXPECT_EQ(chain.record_count, 42u);
  EXPECT_EQ(chain.erased_through, 77u);
  ASSERT_NE(chain.find("app.test.note"), nullptr);
  EXPECT_EQ(chain.find("app.test.note")->next_index, 300u);
  EXPECT_EQ(chain.find("app.test.note")->records, 42u);
  EXPECT_EQ(chain.find("app.test.like"), nullptr);
  EXPECT_EQ(chain.commit_revision(), 9u);
  EXPECT_EQ(chain.passed, 3u);
  EXPECT_EQ(chain.passed_block.size(), 3u);

  const auto decode = [](std::string_view x) {
    return decode_chain(x, names);
  };
  tests::expect_whole_only(*encoded, decode);
  tests::expect_canonical(*encoded, decode, [](const stored_chain& x) {
    return encode_chain(whole(x), names).value();
  });
  tests::expect_survives_noise(12, decode);
}

TEST(ValuesTest, AChainWithAnUnknownCollectionIsAnError) {
  auto chain = tests::sample_chain();
  chain.streams[2].scope = "app.test.unknown";
  EXPECT_EQ(encode_chain(chain, names).error().code, ec::not_found);
  const auto encoded = encode_chain(tests::sample_chain(), names);
  EXPECT_EQ(decode_chain(*encoded, tests::fixed_names{}).error().code,
            ec::storage_failure);
}

TEST(ValuesTest, AChainHoldsTheBlockOfAPassedCommitUpToItsLimit) {
  const auto decoded = [](size_t size) {
    auto chain = tests::sample_chain();
    chain.passed_block = shared_bytes{bytes(size, 7)};
    return decode_chain(encode_chain(chain, names).value(), names);
  };
  EXPECT_TRUE(decoded(limits::passed_block_bytes_max));
  for (const auto size : {size_t{0}, limits::passed_block_bytes_max + 1})
    EXPECT_EQ(decoded(size).error().code, ec::storage_failure) << size;
}

TEST(ValuesTest, OnlyACommitFollowsOnesThatWerePassed) {
  auto block = tests::sample_block();
  EXPECT_EQ(decode_log_block(encode_log_block(block).value())->passed, 12u);
  block.ops.pop_back();
  for (auto& op : block.ops)
    --op.stream;
  block.streams.erase(block.streams.begin());
  EXPECT_EQ(encode_log_block(block).error().code, ec::invalid_argument);
  block.passed = 0;
  EXPECT_TRUE(encode_log_block(block));
}

TEST(ValuesTest, AnEmptyChainHasNoRevision) {
  const auto back = decode_chain(*encode_chain({}, names), names);
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->chain.rev.defined());
  EXPECT_FALSE(back->chain.data.defined());
  EXPECT_EQ(back->chain.commit_revision(), 0u);
}

TEST(ValuesTest, ScopesAreReservedNumbersOrCollections) {
  EXPECT_EQ(scope_id(names, "$commit"), commit_scope_id);
  EXPECT_EQ(scope_id(names, "$identity"), identity_scope_id);
  EXPECT_EQ(scope_id(names, "$account"), account_scope_id);
  EXPECT_EQ(scope_id(names, "$local"), local_scope_id);
  EXPECT_EQ(scope_id(names, "app.test.like"), 17u);
  EXPECT_EQ(scope_id(names, "$other"), std::nullopt);
  EXPECT_EQ(scope_id(names, "app.test.other"), std::nullopt);
  for (const auto id : {1u, 2u, 3u, 4u, 16u, 17u})
    EXPECT_EQ(scope_id(names, scope_name(names, id).value()), id);
  for (const auto id : {0u, 5u, 15u, 18u})
    EXPECT_EQ(scope_name(names, id), std::nullopt);
}

TEST(ValuesTest, StatusesHaveTheNamesOfTheSpecification) {
  EXPECT_STREQ(to_string(repo_status::desync), "desync");
  EXPECT_STREQ(to_string(account_status::takendown), "takendown");
  EXPECT_STREQ(to_string(account_status::inactive), "deactivated");
  EXPECT_STREQ(to_string(static_cast<repo_status>(99)), "unknown");
}

} // namespace weir::storage
