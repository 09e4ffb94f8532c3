#include "simnet/directory_log.hpp"

#include "atproto/cid.hpp"
#include "simnet/datetime.hpp"
#include "simnet/did_documents.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace weir::simnet {

namespace {

namespace json = boost::json;

bool says_the_same(json::object a, json::object b) {
  a.erase("prev");
  b.erase("prev");
  return a == b;
}

} // namespace

void directory_log::catch_up() {
  const std::lock_guard lock{guard_};
  for (size_t i = 0; i < site_.facts.accounts(); ++i) {
    const auto account = site_.facts.view(i);
    const auto known = last_.find(i);
    if (known == last_.end() && account.status == standing::tombstoned)
      continue; // It came and went between two calls.
    const auto before
      = known == last_.end() ? std::string{} : entries_[known->second].id;
    auto operation = make_operation(account, site_, before);
    if (known != last_.end()
        && says_the_same(operation, entries_[known->second].operation))
      continue;
    const auto text = json::serialize(operation);
    const auto id = atproto::cid::of_dag_cbor(as_bytes(text));
    last_[i] = entries_.size();
    entries_.push_back({account.id.str(), id.to_text(), std::move(operation)});
  }
}

std::string directory_log::created_at(size_t index) const {
  return format_datetime({epoch_.micros + static_cast<int64_t>(index) * 1000});
}

json::object directory_log::line(size_t index) const {
  const auto& x = entries_[index];
  return {{"operation", x.operation},
          {"did", x.did},
          {"cid", x.id},
          {"createdAt", created_at(index)}};
}

std::string directory_log::lines_after(uint64_t after, size_t count) {
  const std::lock_guard lock{guard_};
  std::string out;
  const auto first = std::min<uint64_t>(after, entries_.size());
  const auto end = std::min<uint64_t>(first + count, entries_.size());
  for (auto i = first; i < end; ++i) {
    auto x = line(i);
    x["type"] = "sequenced_op";
    x["seq"] = i + 1;
    out += (out.empty() ? "" : "\n") + json::serialize(x);
  }
  return out;
}

std::string directory_log::lines_after(const std::string& time, size_t count) {
  const std::lock_guard lock{guard_};
  std::string out;
  for (size_t i = 0; i < entries_.size() && count > 0; ++i) {
    if (created_at(i) <= time)
      continue;
    auto x = line(i);
    x["nullified"] = false;
    out += (out.empty() ? "" : "\n") + json::serialize(x);
    --count;
  }
  return out;
}

} // namespace weir::simnet
