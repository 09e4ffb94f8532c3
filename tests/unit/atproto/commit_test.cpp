#include "atproto/commit.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

// Proves protocol-coverage.md 2.3 and the commit part of 7.

namespace weir::tests {

using namespace atproto;

namespace {

const cid some_root = cid::of_dag_cbor(bytes{0xa0});

private_key make_key(uint64_t seed, curve which = curve::k256) {
  const auto random = seeded_random(seed);
  return private_key::generate(which, *random);
}

commit_object make_object() {
  return {did::trusted("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"),
          tid::from_time({1'700'000'000'000'000}, 3),
          some_root,
          {},
          {}};
}

/// Fields of a commit that can be changed before they are encoded and signed.
struct entry {
  std::string key;
  bytes value;
};

bytes encode_map(const std::function<void(cbor::writer&)>& put) {
  cbor::writer out;
  put(out);
  return out.take();
}

std::vector<entry> entries() {
  const auto x = make_object();
  return {
    {"did", encode_map([&](auto& out) {
       out.put_text(x.repo.str());
     })},
    {"rev", encode_map([&](auto& out) {
       out.put_text(x.rev.str());
     })},
    {"sig", encode_map([](auto& out) {
       out.put_bytes(bytes(64, 1));
     })},
    {"data", encode_map([](auto& out) {
       out.put_link(some_root);
     })},
    {"prev", encode_map([](auto& out) {
       out.put_null();
     })},
    {"version", encode_map([](auto& out) {
       out.put_int(3);
     })},
  };
}

bytes to_block(std::vector<entry> x) {
  std::ranges::sort(x, cbor::key_less, &entry::key);
  cbor::writer out;
  out.begin_map(x.size());
  for (const auto& [key, value] : x)
    out.put_text(key).put_raw(value);
  return out.take();
}

bytes with(std::string_view key, const bytes& value) {
  auto x = entries();
  std::erase_if(x, [&](const entry& y) {
    return y.key == key;
  });
  if (!value.empty())
    x.push_back({std::string{key}, value});
  return to_block(std::move(x));
}

ec commit_refusal(bytes_view block) {
  const auto out = decode_commit(block);
  return out ? ec::none : out.error().code;
}

} // namespace

TEST(CommitTest, DecodesWhatWasSigned) {
  for (const auto which : {curve::k256, curve::p256}) {
    const auto key = make_key(1, which);
    auto x = make_object();
    for (const auto& prev : {cid{}, cid::of_dag_cbor(bytes{0x80})}) {
      x.prev = prev;
      const auto block = encode_signed_commit(x, key);
      EXPECT_TRUE(cbor::validate(block));
      const auto out = decode_commit(block);
      ASSERT_TRUE(out) << to_string(out.error());
      EXPECT_EQ(out->repo, x.repo);
      EXPECT_EQ(out->rev, x.rev);
      EXPECT_EQ(out->data, x.data);
      EXPECT_EQ(out->prev, prev);
      EXPECT_TRUE(check_commit_signature(block, key.public_part()));
      EXPECT_FALSE(
        check_commit_signature(block, make_key(2, which).public_part()));
      EXPECT_FALSE(check_commit_signature(block, {}));
    }
  }
}

// protocol-coverage.md 2.3.1, 2.3.2
// protocol-coverage.md 2.3.0
TEST(CommitTest, NeedsEveryFieldInItsForm) {
  EXPECT_EQ(commit_refusal(to_block(entries())), ec::none);
  for (const auto* key : {"did", "rev", "sig", "data", "prev", "version"}) {
    EXPECT_EQ(commit_refusal(with(key, {})), ec::malformed)
      << key << " missing";
    EXPECT_EQ(commit_refusal(with(key, {0xf5})), ec::malformed) << key;
  }
  const auto text = [](std::string_view x) {
    return encode_map([&](auto& out) {
      out.put_text(x);
    });
  };
  const auto link = [](const cid& x) {
    return encode_map([&](auto& out) {
      out.put_link(x);
    });
  };
  const auto sig = [](size_t size) {
    return encode_map([&](auto& out) {
      out.put_bytes(bytes(size));
    });
  };
  EXPECT_EQ(commit_refusal(with("did", text("did:plc"))), ec::malformed);
  EXPECT_EQ(commit_refusal(with("rev", text("yesterday"))), ec::malformed);
  EXPECT_EQ(commit_refusal(with("version", {0x02})), ec::malformed);
  EXPECT_EQ(commit_refusal(with("version", {0x04})), ec::malformed);
  EXPECT_EQ(commit_refusal(with("sig", sig(63))), ec::malformed);
  EXPECT_EQ(commit_refusal(with("sig", sig(65))), ec::malformed);
  EXPECT_EQ(commit_refusal(with("data", {0xf6})), ec::malformed);
  // CIDv1, dag-cbor, and another hash than SHA-256.
  auto other = bytes{0x01, 0x71, 0x1b, 0x20};
  other.resize(36, 5);
  const auto other_hash = cid::from_bytes(other).value();
  for (const auto* key : {"data", "prev"}) {
    EXPECT_EQ(commit_refusal(with(key, link(cid::of_raw({})))), ec::malformed);
    EXPECT_EQ(commit_refusal(with(key, link(other_hash))), ec::malformed);
    EXPECT_EQ(commit_refusal(with(key, link(some_root))), ec::none);
  }
}

// protocol-coverage.md 2.3.0, 6.0
TEST(CommitTest, IsOneStrictItem) {
  const auto block = to_block(entries());
  for (size_t size = 0; size < block.size(); ++size)
    EXPECT_EQ(commit_refusal(bytes_view{block}.first(size)), ec::malformed);
  auto longer = block;
  longer.push_back(0xf6);
  EXPECT_EQ(commit_refusal(longer), ec::malformed);
  cbor::writer unsorted;
  auto reversed = entries();
  std::ranges::reverse(reversed);
  unsorted.begin_map(reversed.size());
  for (const auto& [key, value] : reversed)
    unsorted.put_text(key).put_raw(value);
  EXPECT_EQ(commit_refusal(unsorted.data()), ec::malformed);
  EXPECT_EQ(commit_refusal(encode_map([](auto& out) {
              out.begin_array(0);
            })),
            ec::malformed);
}

TEST(CommitTest, KeepsTheDepthLimit) {
  const auto nest = [](size_t depth) {
    auto value = bytes(depth, 0x81);
    value.push_back(0xf6);
    return with("x", value);
  };
  EXPECT_EQ(commit_refusal(nest(limits::frame_depth_max - 1)), ec::none);
  EXPECT_EQ(commit_refusal(nest(limits::frame_depth_max)), ec::limit_reached);
}

// protocol-coverage.md 2.3.2, 2.3.3
TEST(CommitTest, UnknownFieldsAreSignedAndOtherwiseIgnored) {
  const auto key = make_key(1);
  // Up to 30 more fields: the head of the map grows from one byte to two.
  for (size_t more = 0; more <= 30; ++more) {
    auto x = entries();
    for (size_t i = 0; i < more; ++i)
      x.push_back({(i % 2 == 0 ? "a" : "zzzzzzzzz") + std::to_string(i),
                   encode_map([&](auto& out) {
                     out.put_int(static_cast<int64_t>(i));
                   })});
    auto without = x;
    std::erase_if(without, [](const entry& y) {
      return y.key == "sig";
    });
    const auto signed_bytes = to_block(without);
    const auto sig = key.sign(signed_bytes);
    for (auto& y : x)
      if (y.key == "sig")
        y.value = encode_map([&](auto& out) {
          out.put_bytes(sig);
        });
    const auto block = to_block(x);
    EXPECT_TRUE(decode_commit(block));
    EXPECT_TRUE(check_commit_signature(block, key.public_part())) << more;
  }
}

// protocol-coverage.md 2.3.3
TEST(CommitTest, WithoutASignatureIsSignedByNobody) {
  const auto key = make_key(1).public_part();
  EXPECT_FALSE(check_commit_signature(with("sig", {}), key));
  EXPECT_FALSE(check_commit_signature(with("sig", {0xf6}), key));
}

// protocol-coverage.md 2.3.4
TEST(CommitTest, NoChangedByteKeepsTheSignature) {
  const auto key = make_key(1);
  const auto block = encode_signed_commit(make_object(), key);
  for (size_t i = 0; i < block.size(); ++i) {
    auto changed = block;
    changed[i] ^= 0x04;
    EXPECT_FALSE(check_commit_signature(changed, key.public_part())) << i;
  }
}

} // namespace weir::tests
