#include "storage/tables/head_cursor.hpp"

#include <algorithm>
#include <limits>

namespace weir::storage {

namespace {

/// Compares collections in the order of the tree, which compares `name/`. It
/// differs from the order of names, because '-' and '.' are smaller than '/'.
bool before_in_tree(std::string_view x, std::string_view y) noexcept {
  const auto n = std::min(x.size(), y.size());
  if (const int order = x.substr(0, n).compare(y.substr(0, n)); order != 0)
    return order < 0;
  if (x.size() == y.size())
    return false;
  return x.size() < y.size() ? '/' < y[n] : x[n] < '/';
}

/// The smallest TID whose text is greater than `x`, if there is one.
std::optional<std::string> first_tid_after(std::string_view x) {
  uint64_t low = 0;
  uint64_t high = std::numeric_limits<uint64_t>::max();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (atproto::tid{middle}.str() > x)
      high = middle;
    else
      low = middle + 1;
  }
  auto text = atproto::tid{low}.str();
  return text > x ? std::optional{std::move(text)} : std::nullopt;
}

result<head_entry> read_head(const row_reader& row) {
  auto key = decode_key<record_head_key>(row.key());
  if (!key)
    return key.error();
  auto head = decode_value<record_head>(row.value());
  if (!head)
    return head.error();
  return head_entry{{}, std::move(key->rkey.text), std::move(*head)};
}

/// A part of the range, with its next entry decoded.
class lane {
public:
  lane(const database& db, const key_range& range) : rows_(db.scan(range)) {}

  result<void> load() {
    entry_.reset();
    if (!rows_.valid())
      return rows_.status();
    auto head = read_head(rows_);
    if (!head)
      return head.error();
    entry_ = std::move(*head);
    rows_.next();
    return rows_.status(); // A scan skips unreadable blocks.
  }

  std::optional<head_entry>& entry() noexcept { return entry_; }

private:
  row_reader rows_;
  std::optional<head_entry> entry_;
};

/// The lane with the smaller key; null when both are at their end.
lane* smaller(lane& x, lane& y) noexcept {
  if (!x.entry() || !y.entry())
    return x.entry() ? &x : y.entry() ? &y : nullptr;
  return x.entry()->rkey < y.entry()->rkey ? &x : &y;
}

} // namespace

std::string head_entry::path() const {
  std::string out{collection};
  out += '/';
  return out += rkey;
}

head_cursor::head_cursor(const database& db, const collection_names& names,
                         uint16_t partition, atproto::did repo,
                         const chain_row& chain)
  : db_(db), partition_(partition), repo_(std::move(repo)),
    erased_through_(chain.erased_through) {
  for (const auto& stream : chain.streams) {
    const auto id = names.id_of(stream.scope);
    if (id)
      collections_.push_back({stream.scope, *id});
  }
  std::sort(collections_.begin(), collections_.end(),
            [](const collection& x, const collection& y) {
              return before_in_tree(x.name, y.name);
            });
}

void head_cursor::seek_after(std::string_view name, std::string_view rkey) {
  const auto at
    = std::lower_bound(collections_.begin(), collections_.end(), name,
                       [](const collection& x, std::string_view y) {
                         return before_in_tree(x.name, y);
                       });
  at_ = static_cast<size_t>(at - collections_.begin());
  after_.clear();
  if (at != collections_.end() && at->name == name)
    after_ = rkey;
}

result<std::vector<head_entry>> head_cursor::next(size_t limit) {
  std::vector<head_entry> out;
  while (at_ < collections_.size() && out.size() < limit) {
    const auto ended = read_collection(collections_[at_], limit, out);
    if (!ended)
      return ended.error();
    if (*ended) {
      ++at_;
      after_.clear();
    }
  }
  return out;
}

/// Appends entries until `out` has `limit`. Returns true when the collection
/// has no more.
result<bool> head_cursor::read_collection(const collection& from, size_t limit,
                                          std::vector<head_entry>& out) {
  lane tids{db_, tids_of(from)};
  lane texts{db_, texts_of(from)};
  for (auto* one : {&tids, &texts})
    if (auto ok = one->load(); !ok)
      return ok.error();
  while (auto* next = smaller(tids, texts)) {
    if (out.size() == limit)
      return false;
    auto& entry = *next->entry();
    after_ = entry.rkey;
    if (entry.head.op > erased_through_) {
      entry.collection = from.name;
      out.push_back(std::move(entry));
    }
    if (auto ok = next->load(); !ok)
      return ok.error();
  }
  return true;
}

key_range head_cursor::tids_of(const collection& x) const {
  auto range = texts_of(x);
  range.end = encode_key(record_head_key{partition_, repo_, x.id, {""}});
  range.begin = range_of<record_head_key>(partition_, repo_, x.id).begin;
  if (after_.empty())
    return range;
  auto first = first_tid_after(after_);
  range.begin = first ? encode_key(
                  record_head_key{partition_, repo_, x.id, {std::move(*first)}})
                      : range.end;
  return range;
}

/// The first of the keys that are no TID is the empty text.
key_range head_cursor::texts_of(const collection& x) const {
  auto range = range_of<record_head_key>(partition_, repo_, x.id);
  range.begin = encode_key(record_head_key{partition_, repo_, x.id, {""}});
  if (!after_.empty())
    range.begin = key_after(range.begin + after_);
  return range;
}

} // namespace weir::storage
