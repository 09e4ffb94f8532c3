#include "apps/demo/copy.hpp"

#include "atproto/identifiers.hpp"
#include "atproto/json_fields.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace weir::apps {

namespace {

namespace json = boost::json;
using atproto::object_at;
using atproto::text_at;
using atproto::truth_at;

constexpr size_t latencies_max = 65'536;

uint64_t hash_of(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const auto x : parts)
    all.append(x).append(1, '\n');
  return atproto::stable_hash(all);
}

std::optional<uint64_t> id_of(const json::object& x) {
  const auto* found = x.if_contains("id");
  if (found == nullptr || !found->is_int64() || found->get_int64() <= 0)
    return std::nullopt;
  return static_cast<uint64_t>(found->get_int64());
}

} // namespace

struct event_copy::event {
  uint64_t id = 0;
  bool is_record = false;
  bool live = false;
  bool active = false;
  std::string did;
  std::string rev;
  std::string path;
  std::string action;
  std::string cid;
  std::string handle;
  std::string status;

  /// Returns nothing unless Tap's clients would accept the text.
  static std::optional<event> parse(std::string_view text) {
    const auto whole = atproto::parse_object(text);
    if (!whole)
      return std::nullopt;
    event out;
    const auto id = id_of(*whole);
    const auto type = text_at(*whole, "type");
    const auto* fields = object_at(*whole, type);
    if (!id || fields == nullptr)
      return std::nullopt;
    out.id = *id;
    out.is_record = type == "record";
    const bool good = out.is_record
                        ? out.read_record(*fields)
                        : type == "identity" && out.read_identity(*fields);
    return good ? std::optional{std::move(out)} : std::nullopt;
  }

  delivered_event digest() const {
    if (is_record)
      return {event_place(did, path),
              record_content(did, rev, path, action, cid)};
    return {event_place(did, {}),
            hash_of({did, handle, status, active ? "active" : "inactive"})};
  }

private:
  bool read_record(const json::object& x) {
    did = text_at(x, "did");
    rev = text_at(x, "rev");
    path = text_at(x, "collection");
    path.append("/").append(text_at(x, "rkey"));
    action = text_at(x, "action");
    cid = text_at(x, "cid");
    live = truth_at(x, "live");
    const bool removes = action == "delete";
    return !did.empty() && atproto::tid::parse(rev)
           && atproto::valid_repo_path(path) && removes == cid.empty()
           && (removes || action == "create" || action == "update");
  }

  bool read_identity(const json::object& x) {
    did = text_at(x, "did");
    handle = text_at(x, "handle");
    status = text_at(x, "status");
    active = truth_at(x, "is_active");
    return !did.empty() && !handle.empty() && !status.empty();
  }
};

uint64_t event_place(std::string_view did, std::string_view path) {
  return hash_of({did, path});
}

uint64_t record_content(std::string_view did, std::string_view rev,
                        std::string_view path, std::string_view action,
                        std::string_view cid) {
  return hash_of({did, rev, path, action, cid});
}

std::optional<event_copy::taken> event_copy::take(std::string_view text,
                                                  wall_time now) {
  ++counts_.received;
  const auto x = event::parse(text);
  if (!x) {
    ++counts_.unreadable;
    return std::nullopt;
  }
  const auto digest = x->digest();
  const auto [known, first] = ids_.try_emplace(x->id, digest);
  if (!first) {
    ++counts_.redelivered;
    if (known->second.content != digest.content)
      ++counts_.conflicts;
    return taken{x->id, true, x->is_record, x->is_record && x->live, x->did};
  }
  apply(*x);
  if (x->is_record && x->live)
    note_latency(x->rev, now);
  return taken{x->id, false, x->is_record, x->is_record && x->live, x->did};
}

void event_copy::apply(const event& x) {
  auto& account = accounts_[x.did];
  if (!account.in_order(x.id, x.is_record))
    ++counts_.out_of_order;
  auto& last = x.is_record ? account.last_record : account.last_fact;
  last = std::max(last, x.id);
  if (!x.is_record && !account.status.empty() && (!x.active || !account.active))
    account.overtaken = x.id;
  if (x.is_record) {
    ++counts_.records;
    if (x.action == "delete")
      account.records.erase(x.path);
    else
      account.records[x.path] = x.cid;
    return;
  }
  account.handle = x.handle;
  account.status = x.status;
  account.active = x.active;
  if (x.status == "deleted")
    account.records.clear(); // No deletions follow (api.md, Acks).
}

void event_copy::note_latency(std::string_view rev, wall_time now) {
  const auto written = atproto::tid::parse(rev)->time();
  const auto micros
    = std::clamp<int64_t>(now.micros - written.micros, 0, UINT32_MAX);
  if (latencies_.size() < latencies_max)
    latencies_.push_back(0);
  latencies_[next_latency_++ % latencies_max] = static_cast<uint32_t>(micros);
}

std::vector<std::chrono::microseconds> event_copy::latencies() const {
  std::vector<std::chrono::microseconds> out;
  for (const auto x : latencies_)
    out.emplace_back(x);
  std::ranges::sort(out);
  return out;
}

} // namespace weir::apps
