#include "atproto/car.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "atproto/sha256.hpp"
#include "tests/support/hostile_tree.hpp"
#include "tests/system/hostile_downloads.hpp"

#include <algorithm>
#include <set>

namespace weir::tests {

namespace {

using atproto::cid;

constexpr size_t cid_size = 36;

/// A number in the encoding of CARs.
bytes varint(uint64_t x) {
  bytes out;
  for (; x >= 0x80; x >>= 7)
    out.push_back(static_cast<uint8_t>(x | 0x80));
  out.push_back(static_cast<uint8_t>(x));
  return out;
}

bytes operator+(bytes x, bytes_view y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

/// A raw block of this many bytes, to which nothing links.
named_block leaf_block(size_t size, uint8_t fill = 0) {
  bytes data(size, fill);
  const cid id{cid::codec_raw, atproto::sha256(data)};
  return {id, std::move(data)};
}

/// The blocks of a repo in the order of its export, commit first.
std::vector<named_block> blocks_of(const test_repo& repo) {
  const auto commit = repo.commit_block();
  std::vector<named_block> out{{cid::of_dag_cbor(commit), commit}};
  for (auto& x : repo.blocks())
    out.push_back(std::move(x));
  return out;
}

/// Nested arrays of this depth.
bytes nested_arrays(size_t depth) {
  return bytes(depth - 1, 0x81) + bytes{0x80};
}

/// A CAR whose header has one more field of this depth.
bytes car_with_deep_header(const test_repo& x, size_t depth) {
  const auto car = x.export_car();
  const auto root = cid::of_dag_cbor(x.commit_block());
  atproto::cbor::writer out;
  out.begin_map(3).put_text("x").put_raw(nested_arrays(depth - 1));
  out.put_text("roots").begin_array(1).put_link(root);
  const auto header = out.put_text("version").put_int(1).take();
  const size_t old_header_bytes = 1 + car.front();
  return varint(header.size()) + header
         + bytes_view{car}.subspan(old_header_bytes);
}

/// The signed commit of a repo with one more field of this depth.
bytes deep_commit(const test_repo& x, size_t depth) {
  constexpr std::string_view name = "\x63sig\x58\x40"; // And the length.
  constexpr size_t sig_bytes = 64;
  auto block = x.commit_block()
               + atproto::cbor::writer{}.put_text("zzzzzzzz").take()
               + nested_arrays(depth - 1);
  const auto begin
    = std::search(block.begin(), block.end(), name.begin(), name.end());
  const auto sig = begin + name.size();
  auto unsigned_block
    = bytes(block.begin(), begin) + bytes(sig + sig_bytes, block.end());
  unsigned_block.front() = 0xa6; // Maps of six and seven fields.
  block.front() = 0xa7;
  std::ranges::copy(x.key().sign(unsigned_block), sig);
  return block;
}

class HostileCarTest : public ::testing::Test {
protected:
  /// Adds a repo; `make` gets a valid one.
  void add(const std::string& what,
           const std::function<bytes(const test_repo&)>& make,
           const std::string& error) {
    const auto repo = all.make_repo();
    all.add_body(what, repo, make(repo), error);
  }

  /// Adds a CAR with this tree and its records.
  void add_tree(const std::string& what, const cid& root,
                std::vector<named_block> nodes, const std::string& error) {
    const auto record = make_record("x");
    nodes.emplace_back(cid::of_dag_cbor(record), record);
    add(
      what,
      [&](const test_repo& x) {
        return signed_car(x, {x.did(), x.rev(), root, {}, {}}, nodes);
      },
      error);
  }

  hostile_downloads all;
};

} // namespace

// hostile-inputs.md 2.1.17: huge header or section, many tiny or extra blocks
TEST_F(HostileCarTest, CarsAreTakenUpToTheirLimitsAndNotAbove) {
  const auto header = [](size_t size) {
    return varint(size) + bytes(size, 0);
  };
  add(
    "header at the limit",
    [&](const auto&) {
      return header(limits::car_header_bytes_max);
    },
    "malformed: ");
  add(
    "header above it",
    [&](const auto&) {
      return header(limits::car_header_bytes_max + 1);
    },
    "too large");
  const auto roots = [](const test_repo& x, size_t count) {
    const auto blocks = blocks_of(x);
    const std::vector<cid> all_roots(count, blocks.front().first);
    atproto::car_writer out{all_roots};
    for (const auto& [id, data] : blocks)
      out.add(id, data);
    return out.take();
  };
  add(
    "as many roots as may be",
    [&](const auto& x) {
      return roots(x, limits::car_roots_max);
    },
    "");
  add(
    "a root too many",
    [&](const auto& x) {
      return roots(x, limits::car_roots_max + 1);
    },
    "too many CAR roots");
  add(
    "section above the limit",
    [](const auto& x) {
      return x.export_car() + varint(limits::car_section_bytes_max + 1);
    },
    "CAR section too large");
  add(
    "section without an end",
    [](const auto& x) {
      return x.export_car() + varint(UINT64_MAX);
    },
    "malformed length");
  add(
    "empty section",
    [](const auto& x) {
      return x.export_car() + varint(0);
    },
    "empty section");
  add(
    "cut off inside a section",
    [](const auto& x) {
      auto car = x.export_car();
      car.pop_back();
      return car;
    },
    "CAR cut off");
  all.run(32 * megabyte);
}

// hostile-inputs.md 2.1.4: limits::frame_depth_max, for the commit and the
// header. Records and nodes are in hostile_mst_test.cpp.
TEST_F(HostileCarTest, CommitsAndHeadersNestUpToTheirLimitAndNotAbove) {
  constexpr auto most = limits::frame_depth_max;
  for (const auto depth : {most, most + 1}) {
    const std::string error = depth == most ? "" : "nested too deep";
    add(
      "commit",
      [depth](const auto& x) {
        auto blocks = blocks_of(x);
        auto& [id, data] = blocks.front();
        data = deep_commit(x, depth);
        id = cid::of_dag_cbor(data);
        return whole_car(blocks);
      },
      error);
    add(
      "header",
      [depth](const auto& x) {
        return car_with_deep_header(x, depth);
      },
      error);
  }
  all.run(16 * megabyte);
}

// hostile-inputs.md 2.1.17, protocol-coverage.md 2.2.4: blocks to which nothing
// links are ignored and cost no memory.
// protocol-coverage.md 5.4
TEST_F(HostileCarTest, UnlinkedBlocksAreNeverKept) {
  add(
    "400,000 blocks of one byte",
    [](const auto& x) {
      auto car = x.export_car();
      std::vector<bytes> sections;
      for (int fill = 0; fill < 256; ++fill) {
        const auto [id, data] = leaf_block(1, static_cast<uint8_t>(fill));
        sections.push_back(varint(cid_size + 1) + id.view() + data);
      }
      for (size_t i = 0; i < 400'000; ++i)
        car = std::move(car) + sections[i % sections.size()];
      return car;
    },
    "");
  add(
    "sections as large as may be",
    [](const auto& x) {
      auto blocks = blocks_of(x);
      for (uint8_t fill = 0; fill < 20; ++fill)
        blocks.push_back(
          leaf_block(limits::car_section_bytes_max - cid_size, fill));
      return whole_car(blocks);
    },
    "");
  all.run(64 * megabyte);
}

// hostile-inputs.md 2.1.6, 2.1.19: missing blocks in an export; CID mismatch
TEST_F(HostileCarTest, ACarThatLacksOrChangesABlockIsRefused) {
  const auto count = blocks_of(all.make_repo()).size();
  for (size_t i = 0; i < count; ++i) {
    add(
      "without block " + std::to_string(i),
      [i](const auto& x) {
        auto blocks = blocks_of(x);
        const auto root = blocks.front().first;
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
        return make_car(root, blocks);
      },
      "verification_failed");
    add(
      "with a changed block " + std::to_string(i),
      [i](const auto& x) {
        auto blocks = blocks_of(x);
        blocks[i].second.back() ^= 1;
        return whole_car(blocks);
      },
      "verification_failed");
  }
  all.run(32 * megabyte);
}

// hostile-inputs.md 2.1.7: a record's link is kept unchanged; a node or a tree
// is never read through such a link, even when its block is there.
TEST_F(HostileCarTest, OtherHashesAndCodecsLeadNowhere) {
  const auto record = make_record("x");
  std::vector<named_block> nodes;
  const auto root = sketch_of({{path_of_depth(0, 0), cid::of_dag_cbor(record)}})
                      ->encode(nodes);
  const auto node = nodes.front().second;
  const auto form = [](bytes prefix, bytes_view rest) {
    return cid::from_bytes(std::move(prefix) + rest).value();
  };
  const bytes empty_node{0xa2, 0x61, 0x65, 0x80, 0x61, 0x6c, 0xf6};
  const std::pair<const char*, cid> forms[] = {
    {"raw", cid::of_raw(node)},
    {"identity", form({0x01, 0x71, 0x00, 0x07}, empty_node)},
    {"BLAKE3", form({0x01, 0x71, 0x1e, 0x20}, atproto::sha256(node))},
    {"version 0", form({0x12, 0x20}, atproto::sha256(node))},
  };
  for (const auto& [name, id] : forms) {
    const std::string by = std::string{" by "} + name;
    const auto with_block = [&nodes, link = id](bytes block) {
      auto out = nodes;
      out.emplace_back(link, std::move(block));
      return out;
    };
    const auto block = id.view()[2] == 0 ? empty_node : node;
    add_tree("tree" + by, id, with_block(block), "link of another form");
    auto above = encode_raw({id, {{path_of_depth(1, 0), root, {}}}});
    auto blocks = with_block(block);
    const auto top = cid::of_dag_cbor(above);
    blocks.emplace_back(top, std::move(above));
    add_tree("node" + by, top, std::move(blocks), "malformed");
    std::vector<named_block> leaf;
    const auto kept = sketch_of({{path_of_depth(0, 0), id}})->encode(leaf);
    leaf.emplace_back(id, block);
    add_tree("record" + by, kept, std::move(leaf), "");
  }
  all.run(32 * megabyte);
}

// hostile-inputs.md 2.1.8, 2.1.9, 2.1.12: forged commits, commits of others,
// revs in the future
TEST_F(HostileCarTest, TheCommitIsThisReposOwnAndOfToday) {
  const auto other = all.make_repo();
  add(
    "of another DID",
    [&](const auto&) {
      return other.export_car();
    },
    "another");
  add(
    "of another DID, by this one's key",
    [&](const auto& x) {
      return signed_car(x, {other.did(), x.rev(), x.data(), {}, {}},
                        x.blocks());
    },
    "another");
  add(
    "by another key",
    [&](const auto& x) {
      return signed_car(other, {x.did(), x.rev(), x.data(), {}, {}},
                        x.blocks());
    },
    "bad_signature");
  add(
    "with a high s",
    [&](const auto& x) {
      auto blocks = blocks_of(x);
      raise_s(blocks.front().second);
      blocks.front().first = cid::of_dag_cbor(blocks.front().second);
      return whole_car(blocks);
    },
    "bad_signature");
  const auto at = [](const test_repo& x, std::chrono::seconds ahead) {
    const auto rev
      = atproto::tid::from_time(system_clock().wall_now() + ahead, 1);
    return signed_car(x, {x.did(), rev, x.data(), {}, {}}, x.blocks());
  };
  constexpr std::chrono::seconds most = limits::rev_future_max;
  add(
    "just before the future",
    [&](const auto& x) {
      return at(x, most - 1s);
    },
    "");
  // The margin allows for the time until the check.
  add(
    "in the future",
    [&](const auto& x) {
      return at(x, most + 30s);
    },
    "future");
  add(
    "in the year 2200",
    [&](const auto& x) {
      return at(x, std::chrono::years{174});
    },
    "future");
  all.run(32 * megabyte);
}

// hostile-inputs.md 2.1.3, 2.1.4: declared lengths and depth bombs, in each
// kind of block. An invalid record does not harm its repo.
TEST_F(HostileCarTest, CborBombsCostNoMemory) {
  using namespace std::string_literals;
  const auto nested = [](const std::string& piece, size_t size) {
    std::string out;
    while (out.size() + piece.size() <= size)
      out += piece;
    return out;
  };
  constexpr size_t most = limits::record_bytes_max;
  const std::array bombs{"\xbb\x30\x30\x30\x30\x30\x30\x30\x30"s,
                         "\x9b\xff\xff\xff\xff\xff\xff\xff\xff"s,
                         "\x5b\xff\xff\xff\xff\xff\xff\xff\xff"s,
                         "\x7b\x7f\xff\xff\xff\xff\xff\xff\xff"s,
                         nested("\x81", most),
                         nested("\xa1\x61\x61", most),
                         nested("\xd8\x2a", most)};
  for (const auto& bomb : bombs) {
    const auto raw = bytes{as_bytes(bomb).begin(), as_bytes(bomb).end()};
    const named_block block{cid::of_dag_cbor(raw), raw};
    const auto name = std::to_string(&bomb - bombs.data());
    add(
      "commit " + name,
      [&](const auto&) {
        return whole_car({block});
      },
      "dag-cbor: ");
    add_tree("node " + name, block.first, {block}, "malformed");
    std::vector<named_block> nodes;
    const auto root
      = sketch_of({{path_of_depth(0, 0), block.first}})->encode(nodes);
    nodes.push_back(block);
    add_tree("record " + name, root, nodes, "");
  }
  all.run(64 * megabyte);
}

} // namespace weir::tests
