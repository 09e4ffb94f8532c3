#include "actors/api/dead_letter_answers.hpp"

#include "actors/api/answers.hpp"
#include "actors/api/request_body.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/consumer_table.hpp"
#include "wire/letters_request.hpp"
#include "wire/limits.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

/// Adds the subject of the event, as far as the log still has it.
void add_subject(const store_readers& store, storage::op_id id,
                 wire::json_object& out) {
  const auto found = storage::log_reader{store.db, store.names, 0}.find(id);
  if (!found || *found == nullptr)
    return;
  const auto& entry = **found;
  const auto& op = entry.ops.at(id - entry.first);
  append_text(entry.repo.str(), out.member("did"));
  if (!op.scope.starts_with('$') && !entry.erased)
    append_text(storage::subject_of(entry.repo, op), out.member("uri"));
}

void add_ids(std::string_view name, const std::vector<uint64_t>& ids,
             wire::json_object& out) {
  if (!ids.empty())
    out.list(name, ids, [](uint64_t id, std::string& text) {
      text += std::to_string(id);
    });
}

/// Sorts ids by the partition in whose log they are; `foreign` gets those of no
/// partition.
std::map<uint16_t, letters_order>
orders_by_id(const std::vector<uint64_t>& ids, const context& shared,
             std::vector<uint64_t>& foreign) {
  std::map<uint16_t, letters_order> out;
  for (const auto id : ids) {
    const auto partition = shared.places().partition_of_event(id);
    if (const auto op = shared.partitions()[partition]->numbers.op_of(id))
      out[partition].ids.push_back(*op);
    else
      foreign.push_back(id);
  }
  return out;
}

/// Orders for the letters of one repo, or for all.
std::map<uint16_t, letters_order>
orders_for_all(const wire::letters_request& x, const context& shared) {
  letters_order order;
  order.all = true;
  order.repo = x.repo;
  const auto& places = shared.places();
  order.most = limits::dead_letters_order_max
               / (x.repo ? 1 : places.partitions());
  std::map<uint16_t, letters_order> out;
  for (const auto& each : shared.partitions())
    if (!x.repo || places.partition_of(*x.repo) == each->number) {
      order.after = each->numbers.last_op_until(x.after);
      out.emplace(each->number, order);
    }
  return out;
}

} // namespace

result<std::map<uint16_t, letters_order>>
letters_orders_of(const net::body_sink& body, bool retry, const context& shared,
                  std::vector<uint64_t>& foreign) {
  const auto request
    = wire::parse_letters_request(static_cast<const text_body&>(body).text());
  if (!request)
    return request.error();
  auto out = request->all ? orders_for_all(*request, shared)
                          : orders_by_id(request->ids, shared, foreign);
  if (out.empty())
    out[0]; // One CONSUMER must report that there are none.
  for (auto& [partition, order] : out)
    order.retry = retry;
  return out;
}

void letters_answer::add(const letters_report& x,
                         const wire::event_numbers& numbers) {
  const auto append = [&numbers](std::vector<uint64_t>& out,
                                 const std::vector<storage::op_id>& ops) {
    for (const auto op : ops)
      out.push_back(numbers.id_of(op).value());
    std::ranges::sort(out);
  };
  done_ += x.done.size();
  append(outdated_, x.outdated);
  append(unknown_, x.unknown);
  append(left_, x.left);
  // Later ids of other partitions are looked at twice.
  if (x.next != 0)
    next_ = std::min(next_, numbers.id_of(x.next).value());
}

net::http_reply letters_answer::reply() const {
  return object_reply(200, [this](wire::json_object& out) {
    out.number(retry_ ? "retried" : "dropped", done_);
    add_ids("outdated", outdated_, out);
    add_ids("unknown", unknown_, out);
    add_ids("left", left_, out);
    if (next_ != UINT64_MAX)
      out.text("cursor", std::to_string(next_));
  });
}

net::http_reply dead_letters_reply(const context& shared,
                                   const std::string& consumer,
                                   const page_request& page) {
  struct letter {
    const store_readers* store;
    storage::op_id op;
    storage::dead_letter_row row;
  };
  std::map<uint64_t, letter> all;
  for (const auto& each : shared.partitions()) {
    const auto* store = shared.stores.each()[each->number];
    auto rows = storage::load_dead_letters(
      store->db, {storage::default_dataset, consumer}, store->key_partition,
      each->numbers.last_op_until(page.after_id), page.limit);
    if (!rows)
      return problem(rows.error());
    for (auto& [op, row] : *rows)
      all.emplace(each->numbers.id_of(op).value(),
                  letter{store, op, std::move(row)});
  }
  if (all.size() > page.limit)
    all.erase(std::next(all.begin(), static_cast<ptrdiff_t>(page.limit)),
              all.end());
  return object_reply(200, [&](wire::json_object& out) {
    out.list("dead_letters", all, [](const auto& each, std::string& text) {
      const auto& [id, x] = each;
      wire::json_object letter{text};
      letter.number("id", id);
      add_subject(*x.store, x.op, letter);
      letter.number("attempts", x.row.attempts);
      append_text(x.row.reason, letter.member("reason"));
      letter.member("at") += std::to_string(x.row.at);
    });
    if (all.size() == page.limit)
      out.text("cursor", std::to_string(all.rbegin()->first));
  });
}

} // namespace weir::actors
