#include "actors/backfill/import_machine.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::actors {

import_machine::import_machine(import_order order,
                               std::unique_ptr<atproto::spool> store,
                               std::unique_ptr<atproto::spool> index)
  : order_(std::move(order)), store_(std::move(store)),
    index_(std::move(index)),
    walk_(order_.repo, *store_, *index_,
          {.index_entries_max = order_.index_entries_max}),
    arena_(std::make_shared<bytes>()) {
  heads_end_ = order_.base == nullptr || order_.base->record_count == 0;
}

result<void> import_machine::finish(wall_time now) {
  auto root = walk_.finish(order_.key, now);
  if (!root) {
    const auto& why = root.error();
    ahead_ = why.ahead;
    return fail(ec::verification_failed,
                std::string{atproto::to_string(why.why)} + ": " + why.reason);
  }
  if (root->rev < order_.least)
    return fail(ec::chain_broken, "the host served rev " + root->rev.str()
                                    + ", but an event or listing named "
                                    + order_.least.str());
  if (order_.base != nullptr && root->rev < order_.base->rev)
    return fail(ec::chain_broken, "the host served rev " + root->rev.str()
                                    + ", an older one than the "
                                    + order_.base->rev.str()
                                    + " that we hold: was the host restored "
                                      "from a backup?");
  root_ = std::move(*root);
  // A larger repository is walked twice, so that it need not fit into memory.
  window_is_all_ = walk_.bytes_fed() <= limits::import_one_pass_bytes_max;
  phase_ = phase::proving;
  return {};
}

result<import_progress> import_machine::step(size_t records_max) {
  import_progress out;
  switch (phase_) {
    case phase::feeding:
      return fail(ec::invalid_argument, "the body has not ended");
    case phase::proving:
      if (auto ok = prove(records_max); !ok)
        return ok.error();
      return out;
    case phase::comparing:
      if (ready_.empty()) {
        if (auto ok = refill(records_max); !ok)
          return ok.error();
        if (!compare(out))
          return out;
      }
      break;
    case phase::done:
      break;
  }
  if (!ready_.empty()) {
    out.chunk = std::move(ready_.front());
    ready_.pop_front();
  }
  out.done = phase_ == phase::done && ready_.empty();
  return out;
}

/// First pass: nothing may be used before it ends.
result<void> import_machine::prove(size_t records_max) {
  auto whole = walk_.step(records_max, [this](const auto& x) {
    ++records_;
    if (window_is_all_)
      take(x);
  });
  if (!whole)
    return whole.error();
  if (!*whole)
    return {};
  phase_ = phase::comparing;
  walked_all_ = window_is_all_;
  if (!window_is_all_)
    walk_.rewind();
  return {};
}

/// Second pass of a large repository: the next window.
result<void> import_machine::refill(size_t records_max) {
  if (walked_all_ || !window_.empty())
    return {};
  arena_ = std::make_shared<bytes>();
  auto whole = walk_.step(records_max,
                          [this](const auto& x) { take(x); });
  if (!whole)
    return whole.error();
  walked_all_ = *whole;
  return {};
}

void import_machine::take(const atproto::walked_record& x) {
  if (!order_.filter.matches(atproto::split_path(x.path).collection))
    return;
  fetched made;
  made.path = x.path;
  made.id = x.id;
  made.undecodable = x.undecodable;
  made.offset = arena_->size();
  made.size = x.block.size();
  arena_->insert(arena_->end(), x.block.begin(), x.block.end());
  window_.push_back(std::move(made));
}

/// Merges the window with our heads, both in path order. Returns false when a
/// page of heads is needed first.
bool import_machine::compare(import_progress& out) {
  while (ready_.empty()) {
    if (heads_.empty() && !heads_end_) {
      out.need_heads = true;
      out.heads_after = last_head_;
      return false;
    }
    if (window_.empty() && !walked_all_)
      return true; // The next step refills it.
    if (window_.empty() && heads_.empty()) {
      close_chunk();
      phase_ = phase::done;
      return true;
    }
    const auto order = window_.empty()  ? 1
                       : heads_.empty() ? -1
                                        : window_.front().path.compare(
                                            heads_.front().path);
    if (order > 0) {
      emit_delete(heads_.front());
      heads_.pop_front();
      continue;
    }
    const auto& x = window_.front();
    if (order < 0)
      emit(x, {});
    else if (x.id != heads_.front().id)
      emit(x, heads_.front().id);
    if (order == 0)
      heads_.pop_front();
    window_.pop_front();
  }
  return true;
}

void import_machine::emit(const fetched& x, const atproto::cid& before) {
  storage::new_operation op;
  op.action = before.defined() ? atproto::op_action::update
                               : atproto::op_action::create;
  op.id = x.id;
  op.undecodable = x.undecodable;
  if (!x.undecodable)
    op.content = shared_bytes{arena_, bytes_view{*arena_}.subspan(x.offset,
                                                                  x.size)};
  ops_bytes_ += x.size;
  push(x.path, std::move(op));
}

/// The host no longer has the record, or the filter became narrower (SYNC-20).
void import_machine::emit_delete(const heads_page::head& x) {
  storage::new_operation op;
  op.action = atproto::op_action::remove;
  push(x.path, std::move(op));
}

void import_machine::push(const std::string& path, storage::new_operation op) {
  const auto parts = atproto::split_path(path);
  op.scope = parts.collection;
  op.rkey = parts.rkey;
  ops_.push_back(std::move(op));
  if (ops_.size() >= limits::chunk_ops_max
      || ops_bytes_ >= limits::chunk_bytes_max)
    close_chunk();
}

void import_machine::on_heads(std::vector<heads_page::head> page, bool end) {
  heads_end_ = end || page.empty();
  if (!page.empty())
    last_head_ = page.back().path;
  std::ranges::move(page, std::back_inserter(heads_));
}

} // namespace weir::actors
