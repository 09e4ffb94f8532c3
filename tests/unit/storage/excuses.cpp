#include "tests/unit/storage/excuses.hpp"

#include "storage/format/content_block.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/log/replaced_content.hpp"
#include "storage/tables/chain_table.hpp"
#include "storage/tables/row_access.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weir::tests {

using namespace weir::storage;

namespace {

/// Says which damage nothing in the store can show (storage-format.md 6).
class excuses {
public:
  explicit excuses(const full_store& store) : store_(store) {
    // nop
  }

  bool cover(const damage& x) const {
    switch (static_cast<table>(x.key.front())) {
      case table::meta:
        return covers_meta(x);
      case table::configuration:
        return !x.after || is<stored_bytes>(x);
      case table::content_block:
        return covers_content(x);
      case table::chain:
        return covers_chain(x);
      case table::record_head:
        return covers_head(x);
      case table::collection_name:
        return covers_name(x);
      case table::collection_member:
        return covers_member(x);
      case table::content_reference:
        return covers_reference(x);
      case table::repo:
        return covers_repo(x);
      case table::member:
        return x.before && is<member_row>(x);
      case table::sync_buffer:
        return covers_waiting(x);
      case table::identity:
        return covers_identity(x);
      case table::exported:
        return !x.after || is<identity_row>(x);
      case table::erasure:
        return covers_erasure(x);
      case table::upstream:
        return covers_upstream(x);
      case table::listing:
        return !x.after || is<listing_row>(x);
      case table::consumer:
        return covers_consumer(x);
      case table::acked:
        return covers_acked(x);
      case table::dead_letter:
        return covers_dead_letter(x);
      case table::kept_content:
        return covers_kept(x);
      default:
        return false;
    }
  }

private:
  template <class Row>
  static std::optional<Row> row_of(const bytes_of_row& x, table in) {
    auto row = decode_value<Row>(x.value_or(""), in);
    return row ? std::optional{std::move(*row)} : std::nullopt;
  }

  template <class Row>
  static bool is(const damage& x) {
    return row_of<Row>(x.after, static_cast<table>(x.key.front())).has_value();
  }

  /// An operation of the half erased repo, which counts as absent.
  bool erased(op_id id) const {
    return id >= store_.erasing_from && id <= store_.erasing.row.erased_through;
  }

  /// Nothing was replaced by the operations between the two.
  bool covers_replaced(const damage& x) const {
    const auto good = row_of<counter>(x.before, table::meta);
    const auto bad = row_of<counter>(x.after, table::meta);
    if (!good || !bad)
      return false;
    const auto [from, to] = std::minmax(good->value, bad->value);
    bool none = to <= store_.writer->last_id() + 1;
    const auto ok = each_value<log_block_key>(
      *store_.db, range_of<log_block_key>(uint16_t{0}),
      [&](const log_block_key& key, std::string_view value) -> result<bool> {
        const auto block = decode_log_block(value).value();
        for (size_t i = 0; i < block.ops.size(); ++i)
          none &= key.first + i < from || key.first + i >= to
                  || block.ops[i].replaced == 0;
        return true;
      });
    EXPECT_TRUE(ok);
    return none;
  }

  /// The version was replaced by an operation that is not old.
  bool covers_kept(const damage& x) const {
    const auto key = decode_key<kept_content_key>(x.key);
    if (!key || key->partition != 0 || !x.after || !x.after->empty())
      return false;
    bool out = false;
    const auto through = replaced_through(*store_.db).value();
    const auto ok = each_value<log_block_key>(
      *store_.db, range_of<log_block_key>(uint16_t{0}),
      [&](const log_block_key& at, std::string_view value) -> result<bool> {
        const auto block = decode_log_block(value).value();
        for (size_t i = 0; i < block.ops.size(); ++i)
          out |= block.ops[i].replaced == key->id && at.first + i >= through;
        return true;
      });
    EXPECT_TRUE(ok);
    return out || is_of_erased(key->id);
  }

  /// The content is gone, and the row may be older than that.
  bool is_of_erased(op_id id) const {
    const auto first = block_of(*store_.db, 0, id).value();
    const auto block = load_block(*store_.db, 0, first).value();
    const auto chain
      = block ? load_chain(*store_.db, *store_.names, block->repo).value()
              : nullptr;
    return chain && id <= chain->erased_through;
  }

  /// How often the store was opened, and data that is not read yet.
  bool covers_meta(const damage& x) const {
    const auto name = decode_key<meta_key>(x.key);
    if (!name)
      return false;
    if (name->name == "next_collection_id") {
      const auto good = row_of<counter>(x.before, table::meta);
      const auto bad = row_of<counter>(x.after, table::meta);
      return good && bad && bad->value > good->value;
    }
    if (name->name == directory_export_row)
      return !x.after || is<export_row>(x);
    if (name->name == content_to_purge_row)
      return !x.after || is<purge_row>(x);
    if (name->name == replaced_through_row)
      return covers_replaced(x);
    return name->name == "store_epoch" && is<counter>(x);
  }

  /// The host to which it is charged.
  static bool covers_name(const damage& x) {
    const auto good = row_of<collection_row>(x.before, table::collection_name);
    const auto bad = row_of<collection_row>(x.after, table::collection_name);
    return good && bad && good->name == bad->name;
  }

  static bool covers_waiting(const damage& x) {
    const auto good = row_of<waiting_row>(x.before, table::sync_buffer);
    const auto bad = row_of<waiting_row>(x.after, table::sync_buffer);
    const auto same = good && bad && bad->frame.value == good->frame.value;
    return !x.after || (bad && !x.before) || same;
  }

  static bool covers_member(const damage& x) {
    const auto good = row_of<holder_row>(x.before, table::collection_member);
    const auto bad = row_of<holder_row>(x.after, table::collection_member);
    return good && bad && good->holds == bad->holds;
  }

  bool covers_content(const damage& x) const {
    const auto key = decode_key<content_block_key>(x.key);
    return x.before && !x.after && key && erased(key->first);
  }

  bool covers_reference(const damage& x) const {
    const auto key = decode_key<content_reference_key>(x.key);
    return x.before && key && erased(key->id) && (!x.after || is<counter>(x));
  }

  /// How much of a forgotten repo is erased, if everything is, and where the
  /// collections of an erased one will begin.
  bool covers_chain(const damage& x) const {
    const auto key = decode_key<chain_key>(x.key);
    if (!x.before || !x.after || !key)
      return false;
    const auto good = decode_chain(*x.before, *store_.names);
    auto bad = decode_chain(*x.after, *store_.names);
    if (!good || !bad)
      return false;
    bad->chain.streamed = good->chain.streamed;
    if (is_before_passed(x, good->chain, bad->chain)) {
      bad->chain.rev = good->chain.rev;
      bad->chain.data = good->chain.data;
      bad->chain.commit = good->chain.commit;
      bad->chain.passed = good->chain.passed;
      bad->chain.passed_block = good->chain.passed_block;
    }
    if (good->chain.passed != 0 && bad->chain.passed != 0)
      bad->chain.passed = good->chain.passed;
    const auto erased = good->chain.erased_through;
    if (erased != 0 && key->repo == store_.forgotten.repo)
      bad->chain.erased_through = std::min(bad->chain.erased_through, erased);
    if (erased != 0 && (key->repo != store_.erasing.repo
                        || bad->chain.index_base > good->chain.index_base))
      bad->chain.index_base = good->chain.index_base;
    // Streams that stand apart are only counted in this row.
    for (uint64_t i = 0; i < bad->apart; ++i)
      bad->chain.streams.push_back(
        {"apart", i == 0 ? bad->apart_operations : 0, {}, 0, true});
    return encode_chain(bad->chain, *store_.names).value() == *x.before;
  }

  /// As it was before the commits that only the chain knows.
  bool is_before_passed(const damage& x, const chain_row& good,
                        const chain_row& bad) const {
    const auto past = store_.past().find(x.key);
    return good.passed != 0 && bad.passed < good.passed
           && past != store_.past().end() && past->second.contains(*x.after);
  }

  /// A head that counts as absent.
  bool covers_head(const damage& x) const {
    const auto key = decode_key<record_head_key>(x.key);
    if (!key || key->repo != store_.erasing.repo)
      return false;
    const auto head = row_of<record_head>(x.after, table::record_head);
    return !x.after || (head && head->op <= store_.erasing.row.erased_through);
  }

  /// Data that is stored nowhere else.
  bool covers_repo(const damage& x) const {
    const auto good = row_of<repo_row>(x.before, table::repo);
    auto bad = row_of<repo_row>(x.after, table::repo);
    if (!good || !bad)
      return false;
    const auto known = [](const position& at) {
      return at == position{}
             || (at.epoch == 1 && (at.upstream == 1 || at.upstream == 2));
    };
    const auto& relays = bad->words.relays;
    if (!known(bad->fcsr) || !known(bad->words.host_at)
        || !std::all_of(relays.begin(), relays.end(),
                        [&](const auto& word) {
                          return known(word.at);
                        })
        || bad->account != combined(bad->words)
        || std::string_view{to_string(bad->account)}
             != to_string(good->account))
      return false;
    if (bad->status != repo_status::error
        || bad->account != account_status::active)
      bad->next_retry = good->next_retry;
    bad->fcsr = good->fcsr;
    bad->words = good->words;
    bad->account = good->account;
    bad->first_rev = good->first_rev;
    // Every revision from the first commit on is valid here.
    if (!bad->last_indexed_rev.defined()
        || (bad->last_indexed_rev > good->last_indexed_rev
            && bad->last_indexed_rev <= store_.synced.chain->rev
            && x.key == encode_key(repo_key{store_.synced.repo})))
      bad->last_indexed_rev = good->last_indexed_rev;
    bad->filter_generation = good->filter_generation;
    const auto unseen = [](auto& row) {
      return std::tie(row.gap, row.identity_due, row.error, row.retry_count,
                      row.last_sync, row.incarnation, row.pds, row.missed_rev,
                      row.listed_rev, row.not_found_at, row.refused_by,
                      row.left_out_by);
    };
    unseen(*bad) = unseen(std::as_const(*good));
    if (good->resync_id != 0 && bad->resync_id != 0)
      bad->resync_id = good->resync_id;
    return encode_value(*bad) == *x.before;
  }

  /// The content of its document, and the row of a DID without a repo.
  bool covers_identity(const damage& x) const {
    const auto key = decode_key<identity_key>(x.key);
    return is<identity_row>(x)
           || (!x.after && key
               && !store_.find_raw(encode_key(repo_key{key->repo})));
  }

  /// A finished erasure that begins again, and the place where one continues:
  /// data before it that should be erased is found.
  bool covers_erasure(const damage& x) const {
    const auto good = row_of<erasure_row>(x.before, table::erasure);
    const auto bad = row_of<erasure_row>(x.after, table::erasure);
    if (!good || !bad)
      return !good && bad && store_.past().contains(x.key);
    return good->through == bad->through && good->stage == bad->stage;
  }

  static bool covers_upstream(const damage& x) {
    const auto good = row_of<upstream_row>(x.before, table::upstream);
    const auto bad = row_of<upstream_row>(x.after, table::upstream);
    return good && bad && good->id == bad->id && bad->epoch >= good->epoch;
  }

  // Acks of the consumer: gaps between ranges, letters within them.

  struct acks {
    op_id position = 0;
    std::map<op_id, op_id> ranges;

    bool hold(op_id id) const {
      const auto next = ranges.upper_bound(id);
      return id <= position
             || (next != ranges.begin() && std::prev(next)->second >= id);
    }
  };

  acks stored() const {
    const auto tap = load_row<consumer_row>(
      *store_.db, consumer_key{default_dataset, "tap"});
    acks out{(*tap)->position(0), {}};
    const auto ok = each_row<counter, acked_key>(
      *store_.db, range_of<acked_key>(),
      [&](const acked_key& key, const counter& last) {
        out.ranges[key.first] = last.value;
        return true;
      });
    EXPECT_TRUE(ok);
    return out;
  }

  bool sound(const acks& x) const {
    auto end = x.position;
    for (const auto& [first, last] : x.ranges) {
      if (first <= end + 1 || last < first)
        return false;
      end = last;
    }
    return end <= store_.writer->last_id() && x.hold(2) && x.hold(8);
  }

  bool covers_consumer(const damage& x) const {
    const auto bad = row_of<consumer_row>(x.after, table::consumer);
    const auto key = decode_key<consumer_key>(x.key);
    if (!bad || !key || key->dataset != default_dataset
        || bad->log_identity != store_.db->log_identity())
      return false;
    auto changed = stored();
    const auto letters = key->name == "tap" ? 2u : 0u;
    if (letters != 0)
      changed.position = bad->position(0);
    return bad->settled <= store_.writer->log_events()
           && bad->dead_letters == letters && sound(changed) && bad->positions.size() == 1
           && bad->position(0) <= store_.writer->last_id();
  }

  bool covers_acked(const damage& x) const {
    const auto key = decode_key<acked_key>(x.key);
    if (!key || key->name != "tap" || key->partition != 0
        || key->dataset != default_dataset || (x.after && !is<counter>(x)))
      return false;
    auto changed = stored();
    changed.ranges.erase(key->first);
    if (x.after)
      changed.ranges[key->first]
        = row_of<counter>(x.after, table::acked)->value;
    return sound(changed);
  }

  static bool covers_dead_letter(const damage& x) {
    return x.before && is<dead_letter_row>(x);
  }

  const full_store& store_;
};

} // namespace

bool is_excused(const full_store& store, const damage& x) {
  return excuses{store}.cover(x);
}

} // namespace weir::tests
