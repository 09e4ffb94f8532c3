#include "tests/real/differential/repo_maker.hpp"

#include "atproto/car.hpp"
#include "atproto/dag_cbor.hpp"
#include "tests/real/differential/random_cbor.hpp"

#include <algorithm>
#include <array>

namespace weir::differential {

using namespace atproto;
using namespace tests;

namespace {

/// Finding keys of greater depth takes long.
constexpr size_t mined_depth_max = 7;

constexpr std::array<std::string_view, 5> collections{
  "app.test.note", "app.test.notes", "app.test.nota", "com.example.a",
  "com.example.averyverylongname.record"};

constexpr std::string_view shared_start
  = "a-long-beginning-that-all-of-these-record-keys-have-in-common-";

} // namespace

bytes encode_text(std::string_view x) {
  cbor::writer out;
  return out.put_text(x).take();
}

bytes encode_link(const cid& x) {
  cbor::writer out;
  return out.put_link(x).take();
}

repo_maker::repo_maker(random_source& x, size_t records_max)
  : random(x), account{1 + x.below(4),
                       x.below(2) == 0 ? curve::k256 : curve::p256},
    size(x.below(records_max + 1)) {
  // nop
}

std::string repo_maker::new_path() {
  if (random.below(12) == 0)
    return path_of_depth(static_cast<int>(random.below(mined_depth_max + 1)),
                         random.below(6));
  auto out = std::string{collections[random.below(collections.size())]} + '/';
  switch (random.below(4)) {
    case 0:
      return out + tid{account.rev().value() + random.below(4000)}.str();
    case 1:
      return out + std::string{shared_start} + std::to_string(random.below(99));
    case 2:
      return out + std::string(1 + random.below(4), "aZ0_~.:-"[random.below(5)])
             + std::to_string(random.below(5000));
    default:
      return out + std::to_string(random.below(100'000));
  }
}

void repo_maker::add_record(std::string path, bytes block) {
  const auto id = cid::of_dag_cbor(block);
  leaves[std::move(path)] = id;
  records.emplace_back(id, std::move(block));
}

void repo_maker::make_leaves(size_t wanted) {
  for (size_t i = 0; i < wanted; ++i) {
    // Some records are invalid, and many more are small.
    auto block
      = random.below(8) == 0
          ? cbor_grower{random, random.below(4) == 0 ? 20u : 0u}.record()
          : make_record(std::to_string(random.below(50)));
    add_record(new_path(), std::move(block));
  }
}

void repo_maker::make_tree() {
  tree = leaves.empty() ? nullptr : sketch_of(leaves);
}

void repo_maker::make_blocks() {
  if (tree) {
    data = tree->encode(blocks);
  } else {
    data = mst::empty_root();
    blocks.emplace_back(data, encode_node({}));
  }
  nodes = blocks.size();
  blocks.insert(blocks.end(), records.begin(), records.end());
}

void repo_maker::make_commit() {
  fields = {{"did", encode_text(account.did().str())},
            {"rev", encode_text(account.rev().str())},
            {"data", encode_link(data)},
            {"prev", {0xf6}},
            {"version", {3}}};
}

namespace {

bytes encode_fields(std::span<const encoded_field> x) {
  bytes out;
  put_head(out, 5, x.size());
  for (const auto& [key, value] : x) {
    put(out, bytes_view{encode_text(key)});
    put(out, bytes_view{value});
  }
  return out;
}

} // namespace

void repo_maker::sign_commit() {
  const auto sorted = [this] {
    std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) {
      return cbor::key_less(a.key, b.key);
    });
  };
  sorted();
  const auto sig = account.key().sign(encode_fields(fields));
  cbor::writer value;
  fields.push_back({"sig", value.put_bytes(sig).take()});
  sorted();
  commit = encode_fields(fields);
}

void repo_maker::make_car() {
  const auto id = cid::of_dag_cbor(commit);
  if (roots.empty())
    roots = {id};
  blocks.emplace_back(id, commit);
  for (auto i = blocks.size(); i > 1; --i)
    std::swap(blocks[i - 1], blocks[random.below(i)]);
  car_writer out{roots};
  for (const auto& [name, block] : blocks)
    out.add(name, block);
  car = out.take();
}

} // namespace weir::differential
