#include "atproto/car.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "base/random.hpp"
#include "tests/support/repo_builder.hpp"

#include <gtest/gtest.h>

// Proves protocol-coverage.md 2.2 and hostile-inputs.md 2.1.17.

namespace weir::tests {

using namespace atproto;

namespace {

named_block make_block(std::string_view text) {
  auto record = make_record(text);
  const auto id = cid::of_dag_cbor(record);
  return {id, std::move(record)};
}

std::vector<named_block> make_blocks(size_t n) {
  std::vector<named_block> out;
  for (size_t i = 0; i < n; ++i)
    out.push_back(make_block(std::to_string(i)));
  return out;
}

void append(bytes& out, bytes_view x) {
  out.insert(out.end(), x.begin(), x.end());
}

void append_varint(bytes& out, uint64_t x) {
  for (; x >= 0x80; x >>= 7)
    out.push_back(static_cast<uint8_t>(x | 0x80));
  out.push_back(static_cast<uint8_t>(x));
}

/// A CAR with this header and no blocks.
bytes with_header(bytes_view header) {
  bytes out;
  append_varint(out, header.size());
  append(out, header);
  return out;
}

bytes header_of(size_t roots, int64_t version, size_t padding = 0) {
  cbor::writer out;
  out.begin_map(padding == 0 ? 2 : 3);
  if (padding != 0)
    out.put_text("a").put_bytes(bytes(padding));
  out.put_text("roots").begin_array(roots);
  for (size_t i = 0; i < roots; ++i)
    out.put_link(cid::of_raw({}));
  out.put_text("version").put_int(version);
  return out.take();
}

bytes with_section(bytes_view section) {
  auto out = with_header(header_of(1, 1));
  append_varint(out, section.size());
  append(out, section);
  return out;
}

ec parse_error(bytes_view x) {
  const auto out = car_slice::parse(x);
  return out ? ec::none : out.error().code;
}

/// Everything that a reader reports, however the input was cut.
struct reading {
  std::vector<cid> roots;
  std::vector<std::pair<cid, bytes>> blocks;
  std::vector<uint64_t> offsets;
  ec failed = ec::none;
  ec finished = ec::none;

  friend bool operator==(const reading&, const reading&) = default;
};

template <class NextSize>
reading read_in_chunks(bytes_view x, NextSize next_size) {
  reading out;
  car_reader in{[&](const cid& id, bytes_view data, uint64_t offset) {
    out.blocks.emplace_back(id, bytes{data.begin(), data.end()});
    out.offsets.push_back(offset);
    return result<void>{};
  }};
  while (!x.empty() && out.failed == ec::none) {
    const auto chunk = x.first(std::min<size_t>(x.size(), next_size()));
    if (const auto fed = in.feed(chunk); !fed)
      out.failed = fed.error().code;
    x = x.subspan(chunk.size());
  }
  out.roots = in.roots();
  if (const auto ended = in.finish(); !ended)
    out.finished = ended.error().code;
  return out;
}

reading read_at_once(bytes_view x) {
  return read_in_chunks(x, [&] {
    return x.size();
  });
}

} // namespace

// -- slices -------------------------------------------------------------------

// protocol-coverage.md 2.2.1, 11.11
TEST(CarSliceTest, HoldsWhatTheWriterWrote) {
  const auto blocks = make_blocks(20);
  const auto car = make_car(blocks[3].first, blocks);
  const auto slice = car_slice::parse(car);
  ASSERT_TRUE(slice) << to_string(slice.error());
  EXPECT_EQ(slice->roots(), std::vector<cid>{blocks[3].first});
  ASSERT_EQ(slice->blocks().size(), blocks.size());
  for (const auto& [id, data] : blocks) {
    const auto* found = slice->find(id);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->id, id);
    EXPECT_TRUE(std::ranges::equal(found->data, data));
  }
  EXPECT_TRUE(slice->check_hashes());
  EXPECT_EQ(slice->find(make_block("another").first), nullptr);
  EXPECT_EQ(slice->find({}), nullptr);
}

TEST(CarSliceTest, BorrowsTheBytesInsteadOfCopyingThem) {
  const auto blocks = make_blocks(2);
  const auto car = make_car(blocks[0].first, blocks);
  const auto slice = car_slice::parse(car).value();
  for (const auto& x : slice.blocks()) {
    EXPECT_GE(x.data.data(), car.data());
    EXPECT_LE(x.data.data() + x.data.size(), car.data() + car.size());
  }
}

// protocol-coverage.md 2.2.4
TEST(CarSliceTest, MayHoldOneBlockTwice) {
  const auto blocks = make_blocks(1);
  const auto car = make_car(blocks[0].first, {blocks[0], blocks[0]});
  const auto slice = car_slice::parse(car).value();
  EXPECT_EQ(slice.blocks().size(), 2u);
  EXPECT_EQ(slice.find(blocks[0].first), &slice.blocks()[0]);
}

TEST(CarSliceTest, MayHoldNoBlocks) {
  EXPECT_TRUE(car_slice::parse(with_header(header_of(1, 1))));
}

TEST(CarSliceTest, NeverFindsBlocksWhoseHashCannotBeChecked) {
  // CIDv1, dag-cbor, identity multihash of two bytes.
  const bytes name{0x01, 0x71, 0x00, 0x02, 0xa0, 0xf6};
  auto section = name;
  append(section, make_record("x"));
  const auto car = with_section(section);
  const auto slice = car_slice::parse(car).value();
  ASSERT_EQ(slice.blocks().size(), 1u);
  EXPECT_EQ(slice.find(slice.blocks()[0].id), nullptr);
  EXPECT_TRUE(slice.check_hashes());
}

TEST(CarSliceTest, TellsCodecsOfOneDigestApart) {
  const auto record = make_record("x");
  const auto raw = cid::of_raw(record);
  const auto node = cid::of_dag_cbor(record);
  const auto car = make_car(raw, {{raw, record}});
  const auto slice = car_slice::parse(car).value();
  EXPECT_NE(slice.find(raw), nullptr);
  EXPECT_EQ(slice.find(node), nullptr);
}

// protocol-coverage.md 2.2.1
// protocol-coverage.md 6.0
TEST(CarSliceTest, RefusesBrokenHeaders) {
  EXPECT_EQ(parse_error({}), ec::malformed);
  EXPECT_EQ(parse_error(bytes{0x00}), ec::malformed) << "empty header";
  EXPECT_EQ(parse_error(bytes{0x80}), ec::malformed) << "length cut off";
  EXPECT_EQ(parse_error(with_header(header_of(0, 1))), ec::malformed);
  EXPECT_EQ(parse_error(with_header(header_of(1, 2))), ec::malformed);
  EXPECT_EQ(parse_error(with_header(bytes{0xf6})), ec::malformed);
  cbor::writer no_version;
  no_version.begin_map(1).put_text("roots").begin_array(1).put_link(
    cid::of_raw({}));
  EXPECT_EQ(parse_error(with_header(no_version.data())), ec::malformed);
  cbor::writer no_roots;
  no_roots.begin_map(1).put_text("version").put_int(1);
  EXPECT_EQ(parse_error(with_header(no_roots.data())), ec::malformed);
  auto trailing = header_of(1, 1);
  trailing.push_back(0xf6);
  EXPECT_EQ(parse_error(with_header(trailing)), ec::malformed);
  auto cut = with_header(header_of(1, 1));
  cut.pop_back();
  EXPECT_EQ(parse_error(cut), ec::malformed);
}

// protocol-coverage.md 2.2.6
TEST(CarSliceTest, RefusesBrokenLengths) {
  const auto start = with_header(header_of(1, 1));
  const auto with_tail = [&](bytes tail) {
    auto out = start;
    append(out, tail);
    return out;
  };
  EXPECT_EQ(parse_error(with_tail({0x00})), ec::malformed) << "empty section";
  EXPECT_EQ(parse_error(with_tail({0x05, 1, 2})), ec::malformed) << "cut off";
  EXPECT_EQ(parse_error(with_tail({0x81})), ec::malformed) << "length cut off";
  EXPECT_EQ(parse_error(with_tail({0x81, 0x00, 1})), ec::malformed)
    << "not the shortest form";
  EXPECT_EQ(parse_error(with_tail(bytes(10, 0x81))), ec::malformed)
    << "more than nine bytes";
  EXPECT_EQ(parse_error(with_tail({0x02, 0x01, 0x71})), ec::malformed)
    << "no whole CID";
}

// protocol-coverage.md 2.2.2
TEST(CarSliceTest, RefusesEveryCut) {
  const auto blocks = make_blocks(2);
  const auto car = make_car(blocks[0].first, blocks);
  for (size_t size = 0; size < car.size(); ++size) {
    const auto slice = car_slice::parse(bytes_view{car}.first(size));
    // A cut between sections leaves a valid CAR with fewer blocks.
    if (slice)
      EXPECT_LT(slice->blocks().size(), blocks.size());
    else
      EXPECT_EQ(slice.error().code, ec::malformed);
  }
}

// protocol-coverage.md 10.7
// protocol-coverage.md 11.11
TEST(CarSliceTest, KeepsItsLimits) {
  EXPECT_EQ(parse_error(with_header(header_of(limits::car_roots_max, 1))),
            ec::none);
  EXPECT_EQ(parse_error(with_header(header_of(limits::car_roots_max + 1, 1))),
            ec::limit_reached);

  const auto bare = header_of(1, 1, 1000).size() - 1000;
  const auto padding = limits::car_header_bytes_max - bare;
  const auto longest = header_of(1, 1, padding);
  ASSERT_EQ(longest.size(), limits::car_header_bytes_max);
  EXPECT_EQ(parse_error(with_header(longest)), ec::none);
  EXPECT_EQ(parse_error(with_header(header_of(1, 1, padding + 1))),
            ec::limit_reached);

  const auto id = cid::of_raw({});
  auto section = bytes{id.view().begin(), id.view().end()};
  section.resize(limits::car_section_bytes_max);
  EXPECT_EQ(parse_error(with_section(section)), ec::none);
  section.push_back(0);
  EXPECT_EQ(parse_error(with_section(section)), ec::limit_reached);

  auto blocks = make_blocks(limits::frame_car_blocks_max);
  EXPECT_EQ(parse_error(make_car(id, blocks)), ec::none);
  blocks.push_back(blocks.front());
  EXPECT_EQ(parse_error(make_car(id, blocks)), ec::limit_reached);
}

TEST(CarSliceTest, RefusesDigestsPickedToCollide) {
  std::vector<named_block> blocks;
  digest hash{};
  for (uint8_t i = 0; i < 100; ++i) {
    hash.back() = i;
    blocks.emplace_back(cid{cid::codec_raw, hash}, bytes{});
  }
  EXPECT_EQ(parse_error(make_car(blocks[0].first, blocks)), ec::malformed);
}

// protocol-coverage.md 2.2.3
TEST(CarSliceTest, NeverShowsChangedContentUnderAnOldCid) {
  const auto blocks = make_blocks(3);
  const auto car = make_car(blocks[0].first, blocks);
  size_t accepted = 0;
  for (size_t i = 0; i < car.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = car;
      changed[i] ^= static_cast<uint8_t>(1 << bit);
      const auto slice = car_slice::parse(changed);
      if (!slice || !slice->check_hashes())
        continue;
      ++accepted;
      for (const auto& [id, data] : blocks) {
        const auto* found = slice->find(id);
        EXPECT_TRUE(found == nullptr || std::ranges::equal(found->data, data))
          << i;
      }
    }
  // Only the root's CID in the header and the codecs of names can still vary.
  EXPECT_LT(accepted, 8 * (cid::blessed_size + 3 * 2 + 6));
}

// -- streams ------------------------------------------------------------------

TEST(CarReaderTest, ReadsTheSameHoweverTheBytesAreCut) {
  auto blocks = make_blocks(50);
  blocks.push_back(blocks[7]);
  blocks.push_back(make_block(std::string(70'000, 'x')));
  const auto car = make_car(blocks[5].first, blocks);
  const auto whole = read_at_once(car);
  EXPECT_EQ(whole.blocks, blocks);
  EXPECT_EQ(whole.roots, std::vector<cid>{blocks[5].first});
  EXPECT_EQ(whole.finished, ec::none);
  for (size_t i = 0; i < blocks.size(); ++i)
    EXPECT_TRUE(
      std::equal(blocks[i].second.begin(), blocks[i].second.end(),
                 car.begin() + static_cast<ptrdiff_t>(whole.offsets[i])));
  EXPECT_EQ(read_in_chunks(car,
                           [] {
                             return 1;
                           }),
            whole);
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto random = seeded_random(seed);
    const auto largest = 1 + random->below(2000);
    EXPECT_EQ(read_in_chunks(car,
                             [&] {
                               return 1 + random->below(largest);
                             }),
              whole)
      << "seed " << seed;
  }
}

TEST(CarReaderTest, FindsTheSameFaultHoweverTheBytesAreCut) {
  const auto blocks = make_blocks(3);
  const auto car = make_car(blocks[0].first, blocks);
  for (size_t i = 0; i < car.size(); ++i) {
    auto changed = car;
    changed[i] ^= 0x10;
    EXPECT_EQ(read_in_chunks(changed,
                             [] {
                               return 1;
                             }),
              read_at_once(changed))
      << i;
  }
}

// protocol-coverage.md 2.2.2
TEST(CarReaderTest, FailsAtTheEndOfACutBody) {
  const auto blocks = make_blocks(2);
  const auto car = make_car(blocks[0].first, blocks);
  size_t between_sections = 0;
  for (size_t size = 0; size < car.size(); ++size) {
    const auto out = read_at_once(bytes_view{car}.first(size));
    EXPECT_EQ(out.failed, ec::none);
    if (out.finished == ec::none)
      ++between_sections;
    else
      EXPECT_EQ(out.finished, ec::malformed);
  }
  EXPECT_EQ(between_sections, blocks.size());
}

// protocol-coverage.md 2.2.3
TEST(CarReaderTest, RefusesABlockThatDoesNotHashToItsCid) {
  auto blocks = make_blocks(2);
  blocks[1].second.back() ^= 1;
  const auto out = read_at_once(make_car(blocks[0].first, blocks));
  EXPECT_EQ(out.failed, ec::verification_failed);
  EXPECT_EQ(out.blocks.size(), 1u);
}

TEST(CarReaderTest, StaysFailed) {
  const auto good = make_car(cid::of_raw({}), make_blocks(1));
  car_reader in{[](const cid&, bytes_view, uint64_t) {
    return result<void>{fail(ec::storage_failure, "full")};
  }};
  for (int i = 0; i < 3; ++i) {
    const auto fed = in.feed(good);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().code, ec::storage_failure);
  }
  EXPECT_EQ(in.finish().error().code, ec::storage_failure);
}

TEST(CarReaderTest, PassesOverBlocksWhoseHashCannotBeChecked) {
  bytes section{0x01, 0x71, 0x00, 0x01, 0xa0, 0xa0};
  const auto out = read_at_once(with_section(section));
  EXPECT_EQ(out.finished, ec::none);
  EXPECT_TRUE(out.blocks.empty());
}

TEST(CarReaderTest, RefusesALargeSectionBeforeReadingIt) {
  auto car = with_header(header_of(1, 1));
  append_varint(car, limits::car_section_bytes_max + 1);
  EXPECT_EQ(read_at_once(car).failed, ec::limit_reached);
  car = {};
  append_varint(car, limits::car_header_bytes_max + 1);
  EXPECT_EQ(read_at_once(car).failed, ec::limit_reached);
}

} // namespace weir::tests
