#include "actors/consumer/store_reads.hpp"

#include "actors/consumer/letter_rules.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/consumer_table.hpp"
#include "storage/tables/row_access.hpp"

#include <limits>

namespace weir::actors {

namespace {

/// One transaction has at most two facts, so this is enough to see the next
/// one.
constexpr size_t facts_read = 8;

/// @returns false when the store failed.
bool take(const store_readers& store, op_id id, const letters_order& order,
          letters_found& out) {
  auto entry
    = storage::log_reader{store.db, store.names, store.key_partition}.find(id);
  if (!entry) {
    out.letters = entry.error();
    return false;
  }
  if (!order.repo || (*entry != nullptr && (*entry)->repo == *order.repo))
    out.letters->push_back({id, std::move(*entry), false});
  return true;
}

result<bool> is_current(const store_readers& store, const found_letter& x) {
  const auto& entry = *x.entry;
  const auto& op = entry.ops[x.id - entry.first];
  if (is_fact(op)) {
    storage::log_page few;
    few.ops_max = facts_read;
    const auto page = store.read_did(
      entry.repo, true, x.id, std::numeric_limits<op_id>::max(), few);
    if (!page.entries)
      return page.entries.error();
    return is_current_fact(x.id, *page.entries);
  }
  const auto collection = store.names.id_of(op.scope);
  if (!collection)
    return false; // No repo has records of it any more.
  const auto head = storage::load_row<storage::record_head>(
    store.db, storage::record_head_key{
                store.key_partition, entry.repo, *collection, {op.rkey}});
  if (!head)
    return head.error();
  return is_current_record(entry, x.id, *head);
}

} // namespace

letters_found find_letters(const store_readers& store,
                           const std::string& consumer,
                           const letters_order& order) {
  letters_found out;
  const storage::consumer_name name{storage::default_dataset, consumer};
  const auto rows_after = [&](op_id after, size_t limit) {
    return storage::load_dead_letters(store.db, name, store.key_partition,
                                      after, limit);
  };
  if (order.all) {
    const auto rows = rows_after(order.after, order.most);
    if (!rows) {
      out.letters = rows.error();
      return out;
    }
    for (const auto& [id, row] : *rows)
      if (!take(store, id, order, out))
        return out;
    if (rows->size() == order.most)
      out.next = rows->back().first;
    return out;
  }
  for (const auto id : order.ids) {
    const auto row = rows_after(id - 1, 1);
    if (!row) {
      out.letters = row.error();
      return out;
    }
    if (row->empty() || row->front().first != id)
      out.unknown.push_back(id);
    else if (!take(store, id, order, out))
      return out;
  }
  return out;
}

void judge_letters(const store_readers& store, letters_found& x) {
  x.judged = true;
  for (auto& letter : *x.letters) {
    if (letter.entry == nullptr)
      continue;
    const auto current = is_current(store, letter);
    if (!current) {
      x.letters = current.error();
      return;
    }
    letter.current = *current;
  }
}

unread_log read_unread(const store_readers& store, const oldest_event& x,
                       op_id durable, op_id current_before) {
  storage::log_page page;
  page.current_before = current_before;
  page.with_content = x.unread; // Otherwise erased events look like others.
  if (!x.unread)
    page.ops_max = 1;
  const storage::log_reader log{store.db, store.names, store.key_partition};
  return {x.id, durable, log.read(x.id - 1, durable, page)};
}

} // namespace weir::actors
