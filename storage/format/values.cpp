#include "storage/format/values.hpp"

#include "base/limits.hpp"
#include "storage/format/byte_archive.hpp"
#include "storage/format/crc32c.hpp"
#include "storage/format/limits.hpp"

#include <algorithm>

namespace weir::storage {

// -- parts --------------------------------------------------------------------

namespace {

// The first byte of an encoded CID. For any other kind of CID it is the length.
constexpr uint8_t cid_undefined = 0;
constexpr uint8_t cid_dag_cbor = 1;
constexpr uint8_t cid_raw = 2;

} // namespace

void save(byte_output& ar, const atproto::tid& x) {
  key_writer{ar.data}.put(x);
}

void load(byte_input& ar, atproto::tid& x) {
  key_reader reader{ar.take(sizeof(uint64_t))};
  reader.get(x);
}

void save(byte_output& ar, const atproto::did& x) {
  key_writer{ar.data}.put(x);
}

void load(byte_input& ar, atproto::did& x) {
  key_reader reader{ar.rest};
  if (!reader.get(x))
    throw bad_value{"a DID is damaged"};
  ar.rest = reader.rest();
}

void save(byte_output& ar, const atproto::cid& x) {
  const bool raw = x.is_raw();
  if (raw || x.is_dag_cbor()) {
    ar(raw ? cid_raw : cid_dag_cbor);
    ar.put_raw(x.hash_data(), sizeof(atproto::digest));
  } else {
    ar(static_cast<uint8_t>(x.view().size()));
    ar.put_raw(x.view().data(), x.view().size());
  }
}

void load(byte_input& ar, atproto::cid& x) {
  const auto tag = ar.take_byte();
  if (tag == cid_undefined) {
    x = {};
  } else if (tag == cid_dag_cbor || tag == cid_raw) {
    atproto::digest hash;
    ar(hash);
    x = {tag == cid_raw ? atproto::cid::codec_raw
                        : atproto::cid::codec_dag_cbor,
         hash};
  } else {
    auto parsed = atproto::cid::from_bytes(as_bytes(ar.take(tag)));
    if (!parsed || parsed->is_raw() || parsed->is_dag_cbor())
      throw bad_value{"a CID is damaged"};
    x = std::move(*parsed);
  }
}

// -- rows whose fields simply follow each other -------------------------------

void serialize(auto& ar, account_words& x) {
  uint64_t relays = x.relays.size();
  ar(x.host, x.asked, x.host_at, relays);
  if (relays > limits::upstreams_max)
    throw bad_value{"an account has words of too many relays"};
  x.relays.resize(relays);
  for (auto& word : x.relays)
    ar(word.said, word.at);
  ar(x.tombstoned, x.host_by);
}

void serialize(auto& ar, repo_row& x) {
  ar(x.status, x.account, x.fcsr, x.first_rev, x.last_indexed_rev,
     x.filter_generation, x.gap, x.error, x.retry_count, x.next_retry,
     x.last_sync, x.resync_id, x.incarnation, x.erased_through, x.pds, x.handle,
     x.words, x.identity_due, x.missed_rev, x.listed_rev, x.not_found_at,
     x.refused_by, x.left_out_by);
}

void serialize(auto& ar, upstream_row& x) {
  ar(x.id, x.url, x.relay, x.epoch, x.cursor, x.first_cursor, x.reset_pending,
     x.life, x.suspect, x.ends, x.passed_us, x.from_oldest);
}

void serialize(auto& ar, identity_row& x) {
  ar(x.signing_key, x.pds, x.handle, x.claimed_handle, x.fetched_at,
     x.tombstoned);
}

void serialize(auto& ar, export_row& x) {
  ar(x.directory, x.place, x.last, x.whole_at);
}

void serialize(auto& ar, consumer_row& x) {
  uint64_t partitions = x.positions.size();
  ar(partitions);
  if (partitions > limits::partitions_max)
    throw bad_value{"a consumer has too many positions"};
  x.positions.resize(partitions);
  for (auto& position : x.positions)
    ar(position);
  ar(x.log_identity, x.fire_and_forget, x.settled, x.dead_letters,
     x.current_before);
}

void serialize(auto& ar, dead_letter_row& x) {
  ar(x.attempts, x.reason, x.at);
}

void serialize(auto& ar, member_row& x) {
  ar(x.filter_generation, x.collections);
}

void serialize(auto& ar, filter_row& x) {
  ar(x.generation, x.collections);
}

void serialize(auto& ar, log_epoch& x) {
  ar(x.first, x.ahead);
}

void serialize(auto& ar, log_epochs_row& x) {
  ar(x.begun);
}

void serialize(auto& ar, content_span& x) {
  ar(x.first, x.last);
}

void serialize(auto& ar, erasure_row& x) {
  ar(x.through, x.stage, x.resume, x.content);
}

void serialize(auto& ar, purge_row& x) {
  ar(x.content);
}

void serialize(auto& ar, holder_row& x) {
  ar(x.since, x.holds);
}

void serialize(auto& ar, collection_row& x) {
  ar(x.name, x.host, x.repo);
}

void serialize(auto& ar, stream_head_row& x) {
  ar(x.next_index, x.hash, x.records);
}

void serialize(auto& ar, counter& x) {
  ar(x.value);
}

void serialize(auto& ar, stream_run& x) {
  ar(x.block, x.count);
}

void serialize(auto& ar, listing_row& x) {
  ar(x.cursor, x.done, x.noted, x.audited);
}

// -- rows with a layout of their own ------------------------------------------

void save(byte_output& ar, const record_head& x) {
  ar(x.id, x.rev, x.op);
  ar.put_varint(x.content << 1 | (x.referenced ? 1 : 0));
}

void load(byte_input& ar, record_head& x) {
  ar(x.id, x.rev, x.op);
  const auto packed = ar.take_varint();
  x.content = packed >> 1;
  x.referenced = (packed & 1) != 0;
}

void save(byte_output& ar, const stored_bytes& x) {
  ar.put_raw(x.value.data(), x.value.size());
  ar.put_fixed32(crc32c(as_text(x.value)));
}

void load(byte_input& ar, stored_bytes& x) {
  if (ar.rest.size() < sizeof(uint32_t))
    throw bad_value{"it ends early"};
  const auto text = ar.take(ar.rest.size() - sizeof(uint32_t));
  if (ar.take_fixed32() != crc32c(text))
    throw bad_value{"its checksum is wrong"};
  const auto view = as_bytes(text);
  x.value.assign(view.begin(), view.end());
}

void serialize(auto& ar, waiting_row& x) {
  ar(x.at, x.first_cursor, x.relay, x.frame);
}

namespace {

// Numbers of enums are checked, so that no row has one that is unknown here.
bool is_known(account_status x) noexcept {
  return x >= account_status::active && x <= account_status::inactive;
}

void check(const repo_row& x) {
  const auto& relays = x.words.relays;
  if (x.status < repo_status::pending || x.status > repo_status::desync
      || !is_known(x.account) || !is_known(x.words.host)
      || !std::all_of(relays.begin(), relays.end(), [](const relay_word& y) {
           return is_known(y.said);
         }))
    throw bad_value{"a status is unknown"};
}

/// Earlier versions wrote 4 for a life whose cursor had moved.
void check(upstream_row& x) {
  constexpr auto moved = static_cast<stream_life>(4);
  if (x.life == moved)
    x.life = stream_life::settled;
  if (x.life < stream_life::settled || x.life > stream_life::careful)
    throw bad_value{"a life is unknown"};
}

void check(const erasure_row& x) {
  if (x.stage < erasure_stage::heads || x.stage > erasure_stage::compact)
    throw bad_value{"a stage is unknown"};
}

void check(const log_epochs_row& x) {
  for (size_t i = 0; i < x.begun.size(); ++i)
    if (x.begun[i].first == 0 || x.begun[i].ahead == 0
        || (i > 0
            && (x.begun[i].first <= x.begun[i - 1].first
                || x.begun[i].ahead <= x.begun[i - 1].ahead)))
      throw bad_value{"an epoch of ids does not follow the one before it"};
}

void check(const collection_row& x) {
  if (x.repo.empty() && !x.host.empty())
    throw bad_value{"the host of no repo"};
}

template <class Row>
void check(const Row&) {}

} // namespace

/// The table of a row, unless several tables use it.
template <class Row>
constexpr table table_of{};

template <class Row>
std::string encode_value(const Row& x) {
  byte_output ar;
  ar(value_format, x);
  return std::move(ar.data);
}

template <class Row>
result<Row> decode_value(std::string_view x, table in) {
  if (in == table{})
    in = table_of<Row>;
  return guarded<Row>(x, in, [](byte_input& ar, Row& out) {
    ar(out);
    check(out);
  });
}

#define WEIR_ROW(Row, in)                                                      \
  template <>                                                                  \
  constexpr table table_of<Row> = in;                                          \
  template std::string encode_value(const Row&);                               \
  template result<Row> decode_value(std::string_view, table)

WEIR_ROW(record_head, table::record_head);
WEIR_ROW(repo_row, table::repo);
WEIR_ROW(member_row, table::member);
WEIR_ROW(upstream_row, table::upstream);
WEIR_ROW(identity_row, table::identity);
WEIR_ROW(export_row, table::meta);
WEIR_ROW(consumer_row, table::consumer);
WEIR_ROW(dead_letter_row, table::dead_letter);
WEIR_ROW(filter_row, table::configuration);
WEIR_ROW(log_epochs_row, table::meta);
WEIR_ROW(erasure_row, table::erasure);
WEIR_ROW(purge_row, table::meta);
WEIR_ROW(holder_row, table::collection_member);
WEIR_ROW(collection_row, table::collection_name);
WEIR_ROW(stream_head_row, table::chain);
WEIR_ROW(stream_run, table::stream_block);
WEIR_ROW(listing_row, table::listing);
WEIR_ROW(waiting_row, table::sync_buffer);
WEIR_ROW(counter, table{});
WEIR_ROW(stored_bytes, table{});

#undef WEIR_ROW

} // namespace weir::storage
