#include "actors/api/dead_letter_answers.hpp"

#include "actors/api/answers.hpp"
#include "actors/api/request_body.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/consumer_table.hpp"
#include "wire/letters_request.hpp"
#include "wire/problem.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

/// What it was about, as far as the log still says.
void append_subject(const store_readers& store, storage::op_id id,
                    std::string& out) {
  const auto found = storage::log_reader{store.db, store.names, 0}.find(id);
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

void append_ids(std::string_view name, const std::vector<uint64_t>& ids,
                std::string& out) {
  if (ids.empty())
    return;
  out += ",\"";
  out += name;
  out += "\":[";
  for (const auto id : ids) {
    if (out.back() != '[')
      out += ',';
    out += std::to_string(id);
  }
  out += ']';
}

/// @param foreign Ids that the log never gave out.
net::http_reply letters_reply(const result<letters_report>& x, bool retry,
                              const wire::event_numbers& numbers,
                              const std::vector<uint64_t>& foreign) {
  if (!x)
    return problem(x.error());
  const auto outward = [&numbers](const std::vector<storage::op_id>& ops,
                                  std::vector<uint64_t> out = {}) {
    for (const auto op : ops)
      out.push_back(numbers.id_of(op).value());
    std::ranges::sort(out);
    return out;
  };
  std::string body = retry ? R"({"retried":)" : R"({"dropped":)";
  body += std::to_string(x->done.size());
  append_ids("outdated", outward(x->outdated), body);
  append_ids("unknown", outward(x->unknown, foreign), body);
  append_ids("left", outward(x->left), body);
  if (x->next != 0)
    body += R"(,"cursor":")" + std::to_string(x->next) + '"';
  return net::json_reply(200, body + '}');
}

} // namespace

result<letters_order> letters_order_of(const net::body_sink& body, bool retry,
                                       const wire::event_numbers& numbers,
                                       net::responder answer) {
  auto request
    = wire::parse_letters_request(static_cast<const text_body&>(body).text());
  if (!request)
    return request.error();
  letters_order out;
  out.retry = retry;
  out.ids.reserve(request->ids.size());
  std::vector<uint64_t> foreign;
  for (const auto id : request->ids) {
    if (const auto op = numbers.op_of(id))
      out.ids.push_back(*op);
    else
      foreign.push_back(id);
  }
  out.all = request->all;
  out.repo = std::move(request->repo);
  out.after = request->after;
  out.answer = [answer = std::move(answer), retry, numbers,
                foreign = std::move(foreign)](const auto& report) {
    answer.send(letters_reply(report, retry, numbers, foreign));
  };
  return out;
}

net::http_reply dead_letters_reply(const store_readers& store,
                                   const wire::event_numbers& numbers,
                                   const std::string& consumer,
                                   const page_request& page) {
  const auto rows
    = storage::load_dead_letters(store.db, {storage::default_dataset, consumer},
                                 0, page.after_id, page.limit);
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
