#include "storage/log/record_history.hpp"

#include "storage/log/log_blocks.hpp"
#include "storage/log/operation_maker.hpp"
#include "storage/log/page_filler.hpp"
#include "storage/log/stream_runs.hpp"
#include "storage/tables/row_access.hpp"

#include <algorithm>
#include <limits>

namespace weir::storage {

namespace {

using fate = past_record::fate;

constexpr auto last_index = std::numeric_limits<uint64_t>::max();

/// A run of a stream with its block.
struct loaded_run {
  stored_run at;
  log_block block;
  std::vector<size_t> places;
};

/// One call of `record_history::at`.
class history_search {
public:
  /// @param bounds Must outlive this, and so must the repo.
  history_search(const database& db, const collection_names& names,
                 uint16_t partition, const atproto::did& repo,
                 const chain_row& chain, atproto::tid rev,
                 const read_bounds& bounds)
    : db_(db), partition_(partition), repo_(repo),
      erased_through_(chain.erased_through), chain_rev_(chain.rev), rev_(rev),
      bounds_(bounds), asked_(bounds, 0),
      maker_(db, names, partition, bounds.with_content) {}

  /// Decides which commit is known at the rev. Returns false when none is.
  result<bool> find_commit(past_record& out) {
    const stream_block_key commits{repo_, commit_scope_id, main_branch, 0};
    const auto split = first_after(commits);
    if (!split)
      return split.error();
    const auto later = load(commits, split->later);
    const auto base = load(commits, split->base);
    if (!later || !base)
      return later ? base.error() : later.error();
    if (*base)
      out.as_of = (*base)->block.rev;
    if (chain_rev_ <= rev_) // It may be a commit that the log has no entry of.
      out.as_of = std::max(out.as_of, chain_rev_);
    is_newest_ = !*later && out.as_of != rev_;
    if (*base && (!*later || out.as_of == rev_ || follows(**later)))
      return true;
    out.what = fate::unknown;
    if (*later)
      out.known_from = (*later)->block.rev;
    return false;
  }

  /// Takes the version of the head, which is the last one of its path.
  result<void> take_head(const record_head& head, past_record& out) {
    const auto first = block_of(db_, partition_, head.op);
    if (!first)
      return first.error();
    const auto block = load_block(db_, partition_, *first);
    if (!block)
      return block.error();
    if (*first == 0 || !*block)
      return fail(ec::storage_failure,
                  "the log has no operation " + std::to_string(head.op));
    return take(*first, **block, head.op - *first, out);
  }

  /// Looks for the version among the operations of the collection.
  result<void> find_version(const stream_block_key& key,
                            const std::string& rkey, past_record& out) {
    const auto whole_from = log_whole_from(db_);
    const auto split = first_after(key);
    if (!split || !whole_from)
      return split ? whole_from.error() : split.error();
    if (*whole_from > 1) {
      out.what = fate::trimmed;
      return {};
    }
    if (is_newest_ && split->later) {
      // The commit of these operations is still to come: they are fetched.
      out.what = fate::unknown;
      return {};
    }
    for (auto at = split->base; at;) {
      const auto run = load(key, at);
      if (!run)
        return run.error();
      if (!*run || (*run)->at.run.block <= erased_through_)
        break;
      const auto& [stored, block, places] = **run;
      if (!count(places, out))
        return {};
      for (size_t i = places.size(); i-- > 0;)
        if (block.ops[places[i]].rkey == rkey)
          return take(stored.run.block, block, places[i], out);
      at = stored.first_index == 0 ? std::nullopt
                                   : std::optional{stored.first_index - 1};
    }
    return judge_absence(key, split->later, rkey, out);
  }

private:
  /// Where the rev lies in a stream, as indices of operations.
  struct rev_split {
    std::optional<uint64_t> base;  ///< The last one up to the rev.
    std::optional<uint64_t> later; ///< The first one after it.
  };

  /// The commit changed what the commit before it had left.
  static bool follows(const loaded_run& x) {
    return x.block.from != provenance::resync
           && x.block.ops[x.places.front()].action
                == atproto::op_action::create;
  }

  /// Searches by halves: revs of a stream grow, apart from erased operations,
  /// which come first.
  result<rev_split> first_after(const stream_block_key& key) {
    const auto last = run_before(db_, key, last_index);
    if (!last)
      return last.error();
    if (!*last)
      return rev_split{};
    uint64_t low = 0;
    auto high = (*last)->end_index();
    rev_split out;
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      const auto run = load(key, middle);
      if (!run)
        return run.error();
      if (!*run) {
        low = middle + 1;
        continue;
      }
      const auto& [at, block, places] = **run;
      const bool erased = at.run.block <= erased_through_;
      if (!erased && block.rev > rev_) {
        out.later = high = at.first_index;
        continue;
      }
      // Erased streams may leave a hole in the indices.
      low = std::max(middle + 1, at.end_index());
      out.base = erased ? std::nullopt : std::optional{at.end_index() - 1};
    }
    return out;
  }

  /// The run with the operation `index`; nothing without one.
  result<std::optional<loaded_run>> load(const stream_block_key& key,
                                         std::optional<uint64_t> index) {
    if (auto ok = asked_.ask(); !ok)
      return ok.error();
    if (!index)
      return std::optional<loaded_run>{};
    const auto run = run_before(db_, key, *index);
    if (!run)
      return run.error();
    if (!*run)
      return std::optional<loaded_run>{};
    auto block = load_block(db_, partition_, (*run)->run.block);
    if (!block)
      return block.error();
    if (!*block)
      return fail(ec::storage_failure, "the log has no operation "
                                         + std::to_string((*run)->run.block));
    auto places = places_in(**block, key, **run);
    if (!places)
      return places.error();
    return std::optional{
      loaded_run{**run, std::move(**block), std::move(*places)}};
  }

  /// Returns false when so many operations may not be looked at.
  bool count(const std::vector<size_t>& places, past_record& out) noexcept {
    looked_ += places.size();
    if (looked_ <= bounds_.looked_max)
      return true;
    out.what = fate::too_long;
    return false;
  }

  /// There is no operation of the path up to the rev. The first one after it
  /// must be the creation of the record, and no fetch must have brought it.
  result<void> judge_absence(const stream_block_key& key,
                             std::optional<uint64_t> at,
                             const std::string& rkey, past_record& out) {
    out.what = fate::absent;
    while (at) {
      const auto run = load(key, at);
      if (!run)
        return run.error();
      if (!*run || (*run)->at.end_index() <= *at)
        return {}; // The stream ends before it.
      const auto& [stored, block, places] = **run;
      if (!count(places, out))
        return {};
      for (const auto place : places) {
        const auto& op = block.ops[place];
        if (op.rkey != rkey)
          continue;
        if (block.from != provenance::resync
            && op.action == atproto::op_action::create)
          return {};
        out.what = fate::unknown;
        out.known_from = block.rev;
        return {};
      }
      at = stored.end_index();
    }
    return {};
  }

  result<void> take(op_id first, const log_block& block, size_t place,
                    past_record& out) {
    maker_.enter(first, block);
    auto made = maker_.make(place);
    if (!made)
      return made.error();
    out.what = made->action == atproto::op_action::remove ? fate::removed
               : made->content == content_state::deleted  ? fate::trimmed
                                                          : fate::present;
    out.as_of = std::max(out.as_of, block.rev);
    out.operation = std::move(*made);
    return {};
  }

  const database& db_;
  uint16_t partition_;
  const atproto::did& repo_;
  op_id erased_through_;
  atproto::tid chain_rev_;
  atproto::tid rev_;
  const read_bounds& bounds_;
  page_filler asked_;
  operation_maker maker_;
  /// No commit after the rev is known, and none has it.
  bool is_newest_ = false;
  size_t looked_ = 0;
};

} // namespace

result<past_record> record_history::at(const atproto::did& repo,
                                       const std::string& collection,
                                       const std::string& rkey,
                                       atproto::tid rev,
                                       const read_bounds& bounds) const {
  auto out = find(repo, collection, rkey, rev, bounds);
  if (!out || out->what == fate::present)
    return out;
  const auto whole_from = log_whole_from(db_);
  if (!whole_from)
    return whole_from.error();
  if (*whole_from > 1)
    out->what = fate::trimmed; // What was not found may have been there.
  return out;
}

result<past_record> record_history::find(const atproto::did& repo,
                                         const std::string& collection,
                                         const std::string& rkey,
                                         atproto::tid rev,
                                         const read_bounds& bounds) const {
  past_record out;
  const auto value = db_.get(encode_key(chain_key{repo}));
  if (!value)
    return value.error();
  stored_chain chain;
  if (*value) {
    auto stored = decode_chain(**value, names_);
    if (!stored)
      return stored.error();
    chain = std::move(*stored);
  }
  history_search search{db_,         names_, partition_, repo,
                        chain.chain, rev,    bounds};
  const auto known = search.find_commit(out);
  if (!known)
    return known.error();
  const auto key = key_of({repo, collection}, names_);
  if (!*known || !key)
    return out;
  const auto head = load_row<record_head>(
    db_, record_head_key{partition_, repo, key->scope, {rkey}});
  if (!head)
    return head.error();
  const bool is_it
    = *head && (*head)->op > chain.chain.erased_through && (*head)->rev <= rev;
  auto ok = is_it ? search.take_head(**head, out)
                  : search.find_version(*key, rkey, out);
  if (!ok)
    return ok.error();
  return out;
}

} // namespace weir::storage
