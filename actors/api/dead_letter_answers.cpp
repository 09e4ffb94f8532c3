#include "actors/api/dead_letter_answers.hpp"

#include "actors/api/answers.hpp"
#include "storage/collection_table.hpp"
#include "storage/consumer_table.hpp"
#include "storage/log_reader.hpp"
#include "wire/problem.hpp"

namespace weir::actors {

namespace {

/// What it was about, as far as the log still says.
void append_subject(const store_readers& store, storage::op_id id,
                    std::string& out) {
  const auto found
    = storage::log_reader{store.db, store.names, 0}.find(id);
  if (!found || *found == nullptr)
    return;
  const auto& entry = **found;
  const auto& op = entry.ops.at(id - entry.first);
  out += ",\"did\":";
  append_text(entry.repo.str(), out);
  if (op.scope.starts_with('$') || entry.erased)
    return;
  out += ",\"uri\":";
  append_text(storage::subject_of(entry.repo, op), out);
}

} // namespace

net::http_reply dead_letters_reply(const store_readers& store,
                                   const wire::event_numbers& numbers,
                                   const std::string& consumer,
                                   const page_request& page) {
  const auto rows = storage::load_dead_letters(
    store.db, {storage::default_dataset, consumer}, 0, page.after_id,
    page.limit);
  if (!rows)
    return problem(rows.error());
  std::string body = R"({"dead_letters":[)";
  for (const auto& [id, row] : *rows) {
    body += body.back() == '[' ? "{\"id\":" : ",{\"id\":";
    body += std::to_string(numbers.id_of(id).value());
    append_subject(store, id, body);
    body += ",\"attempts\":" + std::to_string(row.attempts) + ",\"reason\":";
    append_text(row.reason, body);
    body += ",\"at\":" + std::to_string(row.at) + '}';
  }
  body += ']';
  if (rows->size() == page.limit)
    body += R"(,"cursor":")" + std::to_string(rows->back().first) + '"';
  return net::json_reply(200, body + '}');
}

} // namespace weir::actors
