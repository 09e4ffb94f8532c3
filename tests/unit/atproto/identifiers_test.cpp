#include "atproto/identifiers.hpp"
#include "atproto/limits.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <unordered_set>

// protocol-coverage.md section 0.

namespace weir::atproto {

namespace {

std::string repeated(std::string_view part, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i)
    out += part;
  return out;
}

/// A handle of exactly `size` bytes with labels of at most 63.
std::string handle_of_size(size_t size) {
  auto out = repeated("aaaaaaa.", (size - 5) / 8);
  out += std::string(size - 5 - out.size(), 'b');
  if (out.back() == '.')
    out.back() = 'b';
  return out + ".test";
}

} // namespace

// -- DID ----------------------------------------------------------------------

// protocol-coverage.md 0.2, 10.10
TEST(DidTest, SizeEndsAtItsLimit) {
  const auto of_size = [](size_t n) {
    return "did:x:" + std::string(n - 6, 'a');
  };
  EXPECT_TRUE(valid_did(of_size(limits::did_bytes_max)));
  EXPECT_FALSE(valid_did(of_size(limits::did_bytes_max + 1)));
}

// protocol-coverage.md 0.2
TEST(DidTest, ParseKeepsTheCase) {
  EXPECT_EQ(did::parse("did:web:Example.COM").value().str(),
            "did:web:Example.COM");
  EXPECT_EQ(did::parse("did:x").error().code, ec::malformed);
}

// protocol-coverage.md 0.2, 8.1
TEST(DidTest, KnownMethodsAreTheBlessedOnes) {
  for (const auto* good :
       {"did:plc:ewvi7nxzyoun6zhxrhs64oiz", "did:web:example.com",
        "did:web:discover.bsky.social", "did:web:localhost%3A2583",
        "did:web:localhost%3A65535", "did:web:host.test"})
    EXPECT_TRUE(supported_did(good)) << good;
  for (const auto* bad :
       {"did:plc:ewvi7nxzyoun6zhxrhs64oi",
        "did:plc:ewvi7nxzyoun6zhxrhs64oizz",
        "did:plc:ewvi7nxzyoun6zhxrhs64oi1",
        "did:plc:EWVI7NXZYOUN6ZHXRHS64OIZ",
        "did:plc:",
        "did:key:zQ3shZc2QzApp2oymGvQbzP8eKheVshBHbU4ZYjeXqwSKEn6N",
        "did:web:",
        "did:web:example.com:user",
        "did:web:example.com%3A443",
        "did:web:localhost",
        "did:web:localhost%3A",
        "did:web:localhost%3A0",
        "did:web:localhost%3A65536",
        "did:web:localhost%3A123456",
        "did:web:localhost%3A80x",
        "did:web:127.0.0.1",
        "did:web:host.local",
        "did:web:example",
        "xdid:web:example.com",
        ""})
    EXPECT_FALSE(supported_did(bad)) << bad;
}

TEST(DidTest, WhateverIsSupportedIsADid) {
  for (const auto* x : {"did:plc:ewvi7nxzyoun6zhxrhs64oiz",
                        "did:web:example.com", "did:web:localhost%3A2583"})
    EXPECT_TRUE(valid_did(x)) << x;
}

// -- NSID, record key, path ---------------------------------------------------

// protocol-coverage.md 0.3, 10.10
TEST(NsidTest, SizesEndAtTheirLimits) {
  // 253 bytes of authority, a dot and 63 of name are the 317 that an NSID may
  // have.
  const auto label = std::string(63, 'a');
  const auto authority
    = label + "." + label + "." + label + "." + std::string(61, 'a');
  ASSERT_EQ(authority.size(), limits::handle_bytes_max);
  EXPECT_TRUE(valid_nsid(authority + "." + label));
  EXPECT_FALSE(valid_nsid(authority + "." + label + "a"));
  EXPECT_FALSE(valid_nsid(authority + "a." + std::string(62, 'a')));
  EXPECT_TRUE(valid_nsid("com." + label + ".name"));
  EXPECT_FALSE(valid_nsid("com." + label + "a.name"));
}

// protocol-coverage.md 0.3
TEST(NsidTest, TheNameHasNoHyphenAndNoLeadingDigit) {
  EXPECT_TRUE(valid_nsid("com.example.getThing2"));
  EXPECT_FALSE(valid_nsid("com.example.get-thing"));
  EXPECT_FALSE(valid_nsid("com.example.2thing"));
  EXPECT_FALSE(valid_nsid("com.example."));
  EXPECT_FALSE(valid_nsid(""));
  EXPECT_FALSE(valid_nsid("."));
}

// protocol-coverage.md 0.4, 10.10
TEST(RecordKeyTest, SizeEndsAtItsLimit) {
  EXPECT_TRUE(valid_record_key(std::string(limits::record_key_bytes_max, 'a')));
  EXPECT_FALSE(
    valid_record_key(std::string(limits::record_key_bytes_max + 1, 'a')));
  EXPECT_FALSE(valid_record_key(""));
}

// protocol-coverage.md 0.4
TEST(RecordKeyTest, OnlyNamedCharactersAreTaken) {
  const std::string_view others = ".-_:~";
  for (int c = 0; c < 256; ++c) {
    const auto byte = static_cast<char>(c);
    const bool good = (byte >= '0' && byte <= '9')
                      || (byte >= 'a' && byte <= 'z')
                      || (byte >= 'A' && byte <= 'Z')
                      || others.find(byte) != std::string_view::npos;
    EXPECT_EQ(valid_record_key(std::string{'x', byte}), good) << c;
  }
}

// protocol-coverage.md 0.5
TEST(RepoPathTest, IsCollectionSlashKey) {
  EXPECT_TRUE(valid_repo_path("app.bsky.feed.post/3jzfcijpj2z2a"));
  for (const auto* bad : {"", "/", "app.bsky.feed.post", "app.bsky.feed.post/",
                          "/app.bsky.feed.post/x", "app.bsky.feed.post/x/y",
                          "app.bsky.feed.post/.", "app.bsky.feed.post//x",
                          "post/x", "app.bsky.feed.post/a b"})
    EXPECT_FALSE(valid_repo_path(bad)) << bad;
  const auto parts = split_path("app.bsky.feed.post/3jzfcijpj2z2a");
  EXPECT_EQ(parts.collection, "app.bsky.feed.post");
  EXPECT_EQ(parts.rkey, "3jzfcijpj2z2a");
}

// -- handle -------------------------------------------------------------------

// protocol-coverage.md 0.6, 10.10
TEST(HandleTest, SizesEndAtTheirLimits) {
  ASSERT_EQ(handle_of_size(253).size(), limits::handle_bytes_max);
  EXPECT_TRUE(valid_handle(handle_of_size(limits::handle_bytes_max)));
  EXPECT_FALSE(valid_handle(handle_of_size(limits::handle_bytes_max + 1)));
  EXPECT_TRUE(valid_handle(std::string(63, 'a') + ".com"));
  EXPECT_FALSE(valid_handle(std::string(64, 'a') + ".com"));
}

// protocol-coverage.md 0.6
TEST(HandleTest, DeniedDomainsAreDeniedInAnyCase) {
  for (const auto* domain : {"alt", "arpa", "example", "internal", "invalid",
                             "local", "localhost", "onion", "Onion", "LOCAL"})
    EXPECT_FALSE(valid_handle(std::string{"name."} + domain)) << domain;
  EXPECT_FALSE(valid_handle("handle.invalid"));
  EXPECT_TRUE(valid_handle("name.test"));
  EXPECT_TRUE(valid_handle("local.name.com"));
  EXPECT_TRUE(valid_handle("Name.Bsky.Social"));
}

// -- date and time ------------------------------------------------------------

TEST(DatetimeTest, TheMomentMustExist) {
  for (const auto* good :
       {"2024-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "2023-12-31T23:59:59Z",
        "2023-04-30T00:00:00Z", "0000-01-01T00:00:00Z",
        "0000-01-01T01:00:00+01:00", "0000-01-01T00:00:00-01:00",
        "2023-01-01T00:00:00+23:59"})
    EXPECT_TRUE(parse_datetime(good)) << good;
  for (const auto* bad :
       {"2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2023-04-31T00:00:00Z",
        "2023-00-10T00:00:00Z", "2023-13-10T00:00:00Z", "2023-01-00T00:00:00Z",
        "2023-01-32T00:00:00Z", "2023-01-01T24:00:00Z", "2023-01-01T23:60:00Z",
        "2023-01-01T23:59:60Z", "2023-01-01T00:00:00+24:00",
        "2023-01-01T00:00:00+00:60", "0000-01-01T00:59:00+01:00"})
    EXPECT_FALSE(parse_datetime(bad)) << bad;
}

TEST(DatetimeTest, TheMomentIsCountedFrom1970InUtc) {
  const auto micros = [](std::string_view x) { return parse_datetime(x)->micros; };
  EXPECT_EQ(micros("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(micros("1970-01-01T01:30:00+01:30"), 0);
  EXPECT_EQ(micros("1969-12-31T23:00:00-01:00"), 0);
  EXPECT_EQ(micros("1970-01-01T00:00:00.5Z"), 500'000);
  EXPECT_EQ(micros("1970-01-01T00:00:00.123456789Z"), 123'456);
  EXPECT_EQ(micros("1969-12-31T23:59:59.999Z"), -1'000);
  EXPECT_EQ(micros("2024-02-29T12:34:56.000001Z"), 1'709'210'096'000'001);
  EXPECT_EQ(micros("0000-01-01T00:00:00Z"), -62'167'219'200'000'000);
}

TEST(DatetimeTest, FractionsEndAt20Digits) {
  EXPECT_TRUE(
    parse_datetime("2023-01-01T00:00:00." + std::string(20, '1') + "Z"));
  EXPECT_FALSE(
    parse_datetime("2023-01-01T00:00:00." + std::string(21, '1') + "Z"));
}

TEST(DatetimeTest, EveryCutIsInvalid) {
  const std::string_view whole = "1985-04-12T23:20:50.123+01:45";
  EXPECT_TRUE(parse_datetime(whole));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_datetime(whole.substr(0, size))) << size;
}

// -- TID ----------------------------------------------------------------------

// protocol-coverage.md 0.1
TEST(TidTest, TextAndValueAreTheSameNumber) {
  EXPECT_EQ(tid::parse("2222222222222")->value(), 0u);
  EXPECT_EQ(tid::parse("2222222222223")->value(), 1u);
  EXPECT_EQ(tid::parse("jzzzzzzzzzzzz")->value(), UINT64_MAX);
  EXPECT_EQ(tid{UINT64_MAX}.str(), "jzzzzzzzzzzzz");
  EXPECT_EQ(tid{0}.str(), "2222222222222");
  EXPECT_FALSE(tid::parse("k222222222222"));
  EXPECT_FALSE(tid::parse("z222222222222"));
  EXPECT_FALSE(tid::parse(""));
}

// protocol-coverage.md 0.1
TEST(TidTest, HoldsMicrosecondsAndAClock) {
  const auto x = tid::from_time({1'700'000'000'123'456}, 1023);
  EXPECT_EQ(x.time().micros, 1'700'000'000'123'456);
  EXPECT_EQ(x.value() & 0x3ff, 1023u);
  EXPECT_EQ(tid::from_time({1}, 1024).value(), uint64_t{1} << 10)
    << "only ten bits of the clock id count";
  EXPECT_EQ(tid::parse(x.str()), x);
}

// protocol-coverage.md 0.1
TEST(TidTest, OrderOfTextIsOrderOfValues) {
  const auto random = seeded_random(5);
  for (int i = 0; i < 2000; ++i) {
    const tid x{random->next()};
    const tid y{random->next()};
    ASSERT_EQ(x < y, x.str() < y.str());
    ASSERT_EQ(tid::parse(x.str()), x);
  }
}

TEST(TidTest, TheDefaultIsUndefined) {
  EXPECT_FALSE(tid{}.defined());
  EXPECT_TRUE(tid{1}.defined());
}

// -- hash ---------------------------------------------------------------------

// XXH64 with seed 0. These values decide in which store a repo is, so they must
// never change.
TEST(StableHashTest, ValuesAreFrozen) {
  EXPECT_EQ(stable_hash(""), 0xef46db3751d8e999u);
  EXPECT_EQ(stable_hash("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(stable_hash("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(stable_hash("message digest"), 0x066ed728fceeb3beu);
  EXPECT_EQ(stable_hash("abcdefghijklmnopqrstuvwxyz"), 0xcfe1f278fa89835cu);
  EXPECT_EQ(stable_hash("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                        "0123456789"),
            0xaaa46907d3047814u);
  EXPECT_EQ(stable_hash(repeated("1234567890", 8)), 0xe04a477f19ee145du);
}

TEST(StableHashTest, EveryByteOfEverySizeCounts) {
  std::unordered_set<uint64_t> seen;
  size_t n = 0;
  for (size_t size = 0; size < 80; ++size) {
    std::string text(size, 'x');
    seen.insert(stable_hash(text));
    ++n;
    for (size_t at = 0; at < size; ++at, ++n) {
      auto changed = text;
      changed[at] = '\xff';
      seen.insert(stable_hash(changed));
    }
  }
  EXPECT_EQ(seen.size(), n);
}

} // namespace weir::atproto
