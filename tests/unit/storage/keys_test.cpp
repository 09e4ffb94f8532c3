#include "storage/format/keys.hpp"
#include "tests/unit/storage/codec_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace weir::storage {

namespace {

using atproto::did;
using tests::to_hex;

did plc(std::string_view id) {
  return did::trusted("did:plc:" + std::string{id});
}

const did alice = plc("ewvi7nxzyoun6zhxrhs64oiz");
const did web = did::trusted("did:web:example.com");

did random_did(random_source& random) {
  constexpr std::string_view base32 = "234567abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view hosts[] = {"a", "aa", "ab", "b", "a.b"};
  std::string out = "did:plc:";
  if (random.below(3) == 0)
    return did::trusted("did:web:" + std::string{hosts[random.below(5)]});
  for (int i = 0; i < 24; ++i)
    out += base32[random.below(i < 22 ? 2 : 32)];
  if (random.below(8) == 0)
    out += '8'; // This is not a canonical did:plc any more.
  return did::trusted(out);
}

std::string random_rkey(random_source& random) {
  constexpr std::string_view some[]
    = {"self", "a", "aa", "3", "3jzfcijpj2z2", "3jzfcijpj2z2aa", "~"};
  if (random.below(2) == 0)
    return std::string{some[random.below(std::size(some))]};
  return atproto::tid{random.next() >> 1}.str();
}

bool is_plc(const did& x) {
  return x.str().size() == 32 && x.str().starts_with("did:plc:")
         && x.str().find_first_of("0189", 8) == std::string::npos;
}

bool is_tid(const std::string& x) {
  const auto id = atproto::tid::parse(x);
  return id && id->str() == x;
}

// The required order of keys, stated without bytes.
auto did_rank(const did& x) {
  return std::pair{!is_plc(x), x.str()};
}

auto rkey_rank(const std::string& x) {
  return std::pair{!is_tid(x), x};
}

template <class Key>
void expect_round_trip(const Key& key) {
  SCOPED_TRACE(to_string(Key::in));
  const auto encoded = encode_key(key);
  const auto back = decode_key<Key>(encoded);
  ASSERT_TRUE(back) << back.error().context;
  EXPECT_TRUE(*back == key);
  EXPECT_EQ(static_cast<table>(encoded[0]), Key::in);
  for (size_t size = 0; size < encoded.size(); ++size) {
    // Text at the end of a key may be shorter; it is then another key.
    const auto part = decode_key<Key>(encoded.substr(0, size));
    if (part) {
      EXPECT_EQ(encode_key(*part), encoded.substr(0, size));
      EXPECT_FALSE(*part == key);
    } else {
      EXPECT_EQ(part.error().code, ec::storage_failure);
      EXPECT_NE(part.error().context.find(to_string(Key::in)),
                std::string::npos);
    }
  }
  const auto decode = [](std::string_view x) {
    return decode_key<Key>(x);
  };
  tests::expect_canonical(encoded, decode, [](const Key& x) {
    return encode_key(x);
  });
  tests::expect_survives_noise(7, decode);
}

template <class... Keys>
std::set<table> tables_of() {
  return {Keys::in...};
}

} // namespace

TEST(KeysTest, EveryTableRoundTripsAndRefusesDamage) {
  const short_hash hash{1, 2, 3};
  expect_round_trip(log_block_key{3, 258});
  expect_round_trip(content_block_key{3, 1ull << 40});
  expect_round_trip(stream_block_key{alice, 17, 1, 9});
  expect_round_trip(stream_block_key{web, 17, 1, 9});
  expect_round_trip(chain_key{alice});
  expect_round_trip(chain_key{web});
  expect_round_trip(record_head_key{0, alice, 16, {"3jzfcijpj2z2a"}});
  expect_round_trip(record_head_key{0, web, 16, {"self"}});
  expect_round_trip(collection_member_key{3, 16, alice});
  expect_round_trip(content_reference_key{hash, 1, 2});
  expect_round_trip(time_index_key{1, 28'000'000});
  expect_round_trip(repo_key{alice});
  expect_round_trip(repo_by_status_key{repo_status::error, 1'700'000'000, web});
  expect_round_trip(member_key{default_dataset, alice});
  expect_round_trip(sync_buffer_key{alice, 12'345});
  expect_round_trip(identity_key{web});
  expect_round_trip(erasure_key{alice});
  expect_round_trip(collection_name_key{16});
  expect_round_trip(collection_id_key{"app.bsky.feed.post"});
  expect_round_trip(meta_key{"format"});
  expect_round_trip(configuration_key{0, "log_level"});
  expect_round_trip(upstream_key{7});
  expect_round_trip(listing_key{7, 16});
  expect_round_trip(consumer_key{1, "channel"});
  expect_round_trip(acked_key{1, "channel", 0, 99});
  expect_round_trip(dead_letter_key{1, "channel", 0, 99});
  expect_round_trip(kept_content_key{2, 99});
}

// The check for stray rows asks this.
TEST(KeysTest, EveryTableThatHasKeysIsKnownAndNoOther) {
  const auto used
    = tables_of<log_block_key, content_block_key, stream_block_key, chain_key,
                record_head_key, collection_member_key, content_reference_key,
                time_index_key, kept_content_key, meta_key, configuration_key, upstream_key,
                listing_key, consumer_key, acked_key, dead_letter_key, repo_key,
                repo_by_status_key, member_key, sync_buffer_key, identity_key,
                exported_key, erasure_key, collection_name_key,
                collection_id_key>();
  for (int i = 0; i < 256; ++i) {
    const auto x = static_cast<table>(i);
    EXPECT_EQ(is_table(x), used.contains(x)) << i << ' ' << to_string(x);
    EXPECT_EQ(is_table(x), to_string(x) != std::string_view{"unknown"}) << i;
  }
}

TEST(KeysTest, BytesAreTheOnesOfTheFormat) {
  EXPECT_EQ(to_hex(encode_key(log_block_key{3, 258})),
            "1000030000000000000102");
  EXPECT_EQ(
    to_hex(encode_key(record_head_key{0, alice, 16, {"3jzfcijpj2z2a"}})),
    "14"
    "0000"
    "015736e2cfbff535327dbdbb704151df"
    "00000010"
    "01"
    "17fd6873eaf07c06");
  EXPECT_EQ(to_hex(encode_key(chain_key{did::trusted("did:web:x")})),
            "13"
            "02"
            "6469643a7765623a78"
            "0001"
            "00000000"
            "0000");
  EXPECT_EQ(to_hex(encode_key(meta_key{std::string("a\0b", 3)})), "01"
                                                                  "6100ff62"
                                                                  "0001");
}

TEST(KeysTest, OrderOfKeysIsTheOrderOfTheirParts) {
  const auto random = seeded_random(2);
  std::vector<record_head_key> keys;
  for (int i = 0; i < 300; ++i)
    keys.push_back({static_cast<uint16_t>(random->below(3)),
                    random_did(*random),
                    static_cast<uint32_t>(random->below(3) << 7),
                    {random_rkey(*random)}});
  const auto rank = [](const record_head_key& x) {
    return std::tuple{x.partition, did_rank(x.repo), x.collection,
                      rkey_rank(x.rkey.text)};
  };
  for (const auto& x : keys) {
    const auto encoded = encode_key(x);
    for (const auto& y : keys)
      ASSERT_EQ(encoded < encode_key(y), rank(x) < rank(y))
        << x.repo.str() << '/' << x.rkey.text << ' ' << y.repo.str() << '/'
        << y.rkey.text;
  }
}

TEST(KeysTest, OrderOfNumbersIsKeptAtEveryWidth) {
  const auto random = seeded_random(3);
  for (int i = 0; i < 2'000; ++i) {
    const auto x = random->next() >> random->below(64);
    const auto y = random->next() >> random->below(64);
    EXPECT_EQ(encode_key(log_block_key{1, x}) < encode_key(log_block_key{1, y}),
              x < y);
    EXPECT_EQ(encode_key(listing_key{static_cast<uint32_t>(x), 0})
                < encode_key(listing_key{static_cast<uint32_t>(y), 0}),
              static_cast<uint32_t>(x) < static_cast<uint32_t>(y));
  }
}

TEST(KeysTest, OrderOfTextIsKeptAlsoWithZerosInside) {
  const std::string texts[] = {"",
                               std::string(1, '\0'),
                               std::string(2, '\0'),
                               std::string("\0\1", 2),
                               "\1",
                               "a",
                               std::string("a\0", 2),
                               std::string("a\0\xff", 3),
                               "a\1",
                               "aa",
                               "b",
                               "\xff",
                               "\xff\xff"};
  for (const auto& x : texts)
    for (const auto& y : texts) {
      EXPECT_EQ(encode_key(acked_key{1, x, 0, 9})
                  < encode_key(acked_key{1, y, 0, 1}),
                x < y || (x == y && 9 < 1));
    }
}

TEST(KeysTest, ARangeHoldsExactlyTheKeysOfItsLeadingParts) {
  const auto random = seeded_random(4);
  std::vector<record_head_key> keys;
  for (int i = 0; i < 400; ++i)
    keys.push_back({0,
                    random_did(*random),
                    static_cast<uint32_t>(random->below(3)),
                    {random_rkey(*random)}});
  for (const auto& of : keys) {
    const auto repo = range_of<record_head_key>(0, of.repo);
    const auto collection
      = range_of<record_head_key>(0, of.repo, of.collection);
    for (const auto& x : keys) {
      const auto key = encode_key(x);
      EXPECT_EQ(repo.begin <= key && key < repo.end, x.repo == of.repo);
      EXPECT_EQ(collection.begin <= key && key < collection.end,
                x.repo == of.repo && x.collection == of.collection);
    }
  }
}

TEST(KeysTest, ARangeWithoutPartsIsTheWholeTable) {
  const auto all = range_of<upstream_key>();
  EXPECT_EQ(all, (key_range{"\x40", "\x41"}));
  EXPECT_LT(encode_key(upstream_key{0xffffffff}), all.end);
}

TEST(KeysTest, TheEndOfAPrefixIsTheNextPrefix) {
  EXPECT_EQ(prefix_end("a"), "b");
  EXPECT_EQ(prefix_end("a\xff\xff"), "b");
  EXPECT_EQ(prefix_end("\xff"), "");
  EXPECT_EQ(prefix_end(""), "");
  EXPECT_EQ(key_after("a"), std::string("a\0", 2));
}

TEST(KeysTest, OneDidAndOneRecordKeyHaveOneForm) {
  // A canonical did:plc as text, and a TID as text: no writer makes these.
  const std::string longhand
    = "\x13\x02" + alice.str() + std::string("\0\1", 2);
  EXPECT_FALSE(decode_key<chain_key>(longhand));
  auto head = encode_key(record_head_key{0, alice, 16, {"x"}});
  head.pop_back();
  EXPECT_FALSE(decode_key<record_head_key>(head + "3jzfcijpj2z2a"));
  EXPECT_TRUE(decode_key<record_head_key>(head + "3jzfcijpj2z2"));
}

TEST(KeysTest, LooksOfADidThatAreNotPlcStayText) {
  for (const auto* text :
       {"did:plc:ewvi7nxzyoun6zhxrhs64oi", "did:plc:ewvi7nxzyoun6zhxrhs64oizz",
        "did:plc:EWVI7NXZYOUN6ZHXRHS64OIZ", "did:plc:0wvi7nxzyoun6zhxrhs64oiz",
        "did:web:ewvi7nxzyoun6zhxrhs64oiz"}) {
    const chain_key key{did::trusted(text)};
    EXPECT_EQ(encode_key(key)[1], 2) << text;
    EXPECT_TRUE(*decode_key<chain_key>(encode_key(key)) == key) << text;
  }
}

TEST(KeysTest, EveryTableHasItsOwnName) {
  std::set<std::string> names;
  size_t known = 0;
  for (unsigned i = 0; i < 256; ++i)
    if (const std::string name = to_string(static_cast<table>(i));
        name != "unknown") {
      names.insert(name);
      ++known;
    }
  EXPECT_EQ(names.size(), known);
  EXPECT_EQ(known, 25u);
}

TEST(KeysTest, AShortHashDependsOnTheContentAlone) {
  const auto block = as_bytes("some bytes");
  const auto dag = atproto::cid::of_dag_cbor(block);
  const auto raw = atproto::cid::of_raw(block);
  EXPECT_EQ(short_hash_of(dag), short_hash_of(raw));
  EXPECT_NE(short_hash_of(dag),
            short_hash_of(atproto::cid::of_raw(as_bytes("other"))));
}

} // namespace weir::storage
