#include "storage/format/content_block.hpp"
#include "storage/format/crc32c.hpp"
#include "storage/format/keys.hpp"
#include "storage/format/keys_log.hpp"
#include "storage/format/keys_node.hpp"
#include "storage/format/keys_repo.hpp"
#include "storage/format/values.hpp"
#include "storage/segments/segment_heads.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/unit/storage/sample_rows.hpp"

#include <algorithm>

namespace weir::fuzz {

namespace {

using namespace storage;
using tests::sample_did;

// -- keys ---------------------------------------------------------------------

template <class Key>
void check_key(std::string_view x) {
  const auto key = decode_key<Key>(x);
  require(!key || encode_key(*key) == x, "a key has one encoding");
}

template <class... Keys>
struct key_list {
  static void check(std::string_view x) { (check_key<Keys>(x), ...); }
};

using all_keys = key_list<
  log_block_key, content_block_key, stream_block_key, chain_key,
  record_head_key, collection_member_key, content_reference_key, time_index_key,
  repo_key, repo_by_status_key, member_key, sync_buffer_key, identity_key,
  exported_key, erasure_key, collection_name_key, collection_id_key, meta_key,
  configuration_key, upstream_key, listing_key, consumer_key, acked_key,
  dead_letter_key>;

record_head_key draw_key(decisions& draw) {
  record_head_key out;
  out.collection = draw.next() % 2u;
  std::string repo = "did:plc:ewvi7nxzyoun6zhxrhs64oi";
  repo += "234567abcdefghijklmnopqrstuvwxyz"[draw.below(32)];
  out.repo = atproto::did::trusted(std::move(repo));
  return out;
}

acked_key draw_named_key(decisions& draw) {
  acked_key out;
  out.name = as_text(draw.take(draw.below(8)));
  out.first = draw.next() % 2u;
  return out;
}

template <class Key, class Rank>
void check_order(const Key& x, const Key& y, Rank rank) {
  require((rank(x) <=> rank(y) < 0) == (encode_key(x) < encode_key(y)),
          "keys sort as their parts do");
}

/// The order of keys is that of their parts; any bytes are one key or none.
void run_keys(bytes_view input) {
  all_keys::check(as_text(input));
  decisions draw{input};
  const auto x = draw_key(draw);
  const auto y = draw_key(draw);
  check_order(x, y, [](const record_head_key& key) {
    return std::tie(key.repo, key.collection);
  });
  const auto named = draw_named_key(draw);
  check_order(named, draw_named_key(draw), [](const acked_key& key) {
    return std::tie(key.name, key.first);
  });
}

std::vector<bytes> key_seeds() {
  const record_key rkey{"3jzfcijpj2z2a"};
  std::vector<bytes> out;
  for (const auto& x :
       {encode_key(log_block_key{1, 70}),
        encode_key(stream_block_key{sample_did, 16, 0, 9}),
        encode_key(record_head_key{1, sample_did, 16, rkey}),
        encode_key(repo_by_status_key{repo_status::error, 5, sample_did}),
        encode_key(collection_id_key{{"a\0b", 3}}),
        encode_key(acked_key{1, "tap", 0, 44})})
    out.push_back(to_bytes(x));
  return out;
}

// -- values -------------------------------------------------------------------

template <class Row>
void check_row(std::string_view x) {
  const auto row = decode_value<Row>(x);
  require(!row || encode_value(*row) == x, "a row has one encoding");
}

/// Earlier versions wrote 4 for one of the lives of a stream. It is read as
/// another one, and written as that.
template <>
void check_row<upstream_row>(std::string_view x) {
  const auto row = decode_value<upstream_row>(x);
  if (!row)
    return;
  const auto again = encode_value(*row);
  require(again.size() == x.size(), "a row of an upstream has one length");
  const auto [old, now] = std::ranges::mismatch(x, again);
  require(old == x.end()
            || (*old == 4 && *now == static_cast<char>(stream_life::settled)
                && std::equal(old + 1, x.end(), now + 1)),
          "a row of an upstream has one encoding but for an old life");
}

template <class... Rows>
struct row_list {
  static void check(std::string_view x) { (check_row<Rows>(x), ...); }
};

using all_rows
  = row_list<record_head, repo_row, member_row, upstream_row, identity_row,
             consumer_row, dead_letter_row, filter_row, erasure_row, stream_run,
             listing_row, holder_row, collection_row, stream_head_row,
             waiting_row>;

const tests::fixed_names& names() {
  static const tests::fixed_names known{"app.test.note", "app.test.like"};
  return known;
}

/// Every row encodes one value and no other.
void run_values(bytes_view input) {
  const auto x = as_text(input);
  all_rows::check(x);
  if (const auto number = decode_value<counter>(x, table::chain))
    require(encode_value(*number) == x, "a number has one encoding");
  // Streams with rows of their own are only counted, so nothing can be encoded
  // again.
  if (const auto chain = decode_chain(x, names()); chain && chain->apart == 0) {
    const auto again = encode_chain(chain->chain, names());
    require(again && *again == x, "a chain row has one encoding");
  }
}

std::vector<bytes> value_seeds() {
  std::vector<bytes> out{
    to_bytes(encode_value(tests::sample_repo())),
    to_bytes(encode_chain(tests::sample_chain(), names()).value()),
    to_bytes(encode_value(member_row{3, {"app.test.note"}})),
    to_bytes(encode_value(filter_row{2, {"a.b.*", "app.test.note"}})),
    to_bytes(encode_value(consumer_row{{70, 71}, 5, true, 60, 2})),
    to_bytes(encode_value(listing_row{"next", false, {7, 2, 9}}))};
  return out;
}

// -- blocks with checksums ----------------------------------------------------

/// The input with a correct checksum.
std::string with_checksum(bytes_view input) {
  std::string out{as_text(input)};
  const auto sum = crc32c(out);
  for (int i = 0; i < 4; ++i)
    out.push_back(static_cast<char>(sum >> (8 * i)));
  return out;
}

void check_log_block(std::string_view x) {
  const auto block = decode_log_block(x);
  if (!block)
    return;
  const auto again = encode_log_block(*block);
  require(again && *again == x, "a log block has one encoding");
}

void run_log_block(bytes_view input) {
  check_log_block(as_text(input));
  check_log_block(with_checksum(input));
}

std::vector<bytes> log_block_seeds() {
  auto whole = to_bytes(encode_log_block(tests::sample_block()).value());
  auto bare = whole;
  bare.resize(bare.size() - 4);
  return {std::move(whole), std::move(bare)};
}

/// A block with all bodies equals the output of its writer.
void run_content_block(bytes_view input) {
  const auto block = content_block_reader::open(as_text(input));
  if (!block)
    return;
  content_block_writer again;
  bool whole = true;
  for (size_t i = 0; i < block->count(); ++i) {
    const auto item = block->at(i);
    whole = whole && item && !item->erased;
    require(!item || item->erased || item->body.size() == item->size,
            "a body has its size");
    if (whole)
      again.add(item->body);
  }
  require(!block->at(block->count()), "there is nothing past the end");
  require(!whole || again.take() == as_text(input),
          "a content block has one encoding");
}

std::vector<bytes> content_block_seeds() {
  content_block_writer out;
  for (const auto* body : {"one", "", "a third one"})
    out.add(as_bytes(std::string_view{body}));
  return {to_bytes(out.take())};
}

// -- segments -----------------------------------------------------------------

/// A directory of segments may come from anybody.
void run_segment(bytes_view input) {
  const auto tx = decode_transaction(shared_bytes::copy_of(input));
  if (!tx)
    return;
  require(encode_transaction(*tx) == bytes(input.begin(), input.end()),
          "a transaction has one encoding");
  require(hashes_of(*tx).size() == tx->ops.size(),
          "each operation has its hashes");
  segment_heads heads{limits::segment_streams_max};
  if (heads.advance(1, *tx))
    require(!heads.advance(1, *tx), "a stream does not go on where it began");
}

std::vector<bytes> segment_seeds() {
  segment_transaction tx;
  tx.repo = sample_did;
  tx.rev = atproto::tid{70};
  tx.streams.push_back({"app.test.note", 0, {}, {}, {}});
  tx.ops.push_back({0, atproto::op_action::create, false, "one",
                    atproto::cid::of_dag_cbor(as_bytes("body")),
                    shared_bytes::copy_of(as_bytes("body"))});
  tx.ops.push_back({0, atproto::op_action::remove, false, "one", {}, {}});
  tx.streams.front().hash = hashes_of(tx).back().stream;
  auto fetched = tx;
  fetched.from = provenance::resync;
  fetched.live = false;
  fetched.job = 7;
  return {encode_transaction(tx), encode_transaction(fetched)};
}

constexpr target group[] = {
  {"keys", run_keys, key_seeds},
  {"values", run_values, value_seeds},
  {"log_block", run_log_block, log_block_seeds},
  {"segment", run_segment, segment_seeds},
  {"content_block", run_content_block, content_block_seeds,
   "counts, sizes and checksums, then bodies that nobody reads"},
};

} // namespace

std::span<const target> storage_targets() {
  return group;
}

} // namespace weir::fuzz
