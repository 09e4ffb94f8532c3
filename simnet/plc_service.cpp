#include "atproto/cid.hpp"
#include "simnet/datetime.hpp"
#include "simnet/did_documents.hpp"
#include "simnet/services.hpp"
#include "simnet/sync_reads.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace weir::simnet {

namespace {

namespace json = boost::json;

constexpr size_t export_lines_max = 1'000;
constexpr const char* export_name = "export";

/// An error in the directory's own form.
net::http_reply plc_error(int status, std::string_view what,
                          std::string_view did) {
  const auto message = std::string{what} + std::string{did};
  return net::json_reply(status,
                         json::serialize(json::object{{"message", message}}));
}

net::http_reply gone(std::string_view did) {
  return plc_error(410, "DID not available: ", did);
}

bool says_the_same(json::object a, json::object b) {
  a.erase("prev");
  b.erase("prev");
  return a == b;
}

/// The directory's log of operations as its export shows it, numbered from 1,
/// oldest first. It is brought up to date when it is read: all that has
/// changed about an account since the last time becomes one operation.
class directory_log {
public:
  /// @param epoch When the first account entered the directory. Each further
  /// account entered a millisecond later, and changes come after that.
  directory_log(const site& where, wall_time epoch)
    : site_(where), epoch_(epoch) {}

  /// Adds what has changed since the last call.
  void catch_up() {
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
      entries_.push_back(
        {account.id.str(), id.to_text(), std::move(operation)});
    }
  }

  /// @returns at most `count` operations with numbers above `after`, as JSON
  /// lines in the form of a directory that numbers operations.
  std::string lines_after(uint64_t after, size_t count) {
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

  /// The same after `time`, in the older form without seq.
  std::string lines_after(const std::string& time, size_t count) {
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

private:
  struct entry {
    std::string did;
    std::string id; ///< CID of the operation's text.
    json::object operation;
  };

  std::string created_at(size_t index) const {
    return format_datetime(
      {epoch_.micros + static_cast<int64_t>(index) * 1000});
  }

  json::object line(size_t index) const {
    const auto& x = entries_[index];
    return {{"operation", x.operation},
            {"did", x.did},
            {"cid", x.id},
            {"createdAt", created_at(index)}};
  }

  const site& site_;
  const wall_time epoch_;
  std::mutex guard_;
  std::vector<entry> entries_;
  /// The index of the last entry of each account.
  std::map<size_t, size_t> last_;
};

class plc_service final : public net::http_service {
public:
  plc_service(const site& where, wall_time epoch)
    : site_(where), log_(where, epoch) {}

  void on_request(net::incoming_request request,
                  net::responder answer) override {
    const auto did = request.path.substr(1);
    if (did == export_name)
      site_.faults.note_export_page();
    else if (did.starts_with("did:"))
      site_.faults.note_document();
    const auto take = [this, &did](fault_kind x) {
      return site_.faults.take(x, 0, did);
    };
    if (take(fault_kind::directory_refuse))
      return answer.cut();
    if (take(fault_kind::directory_hang))
      return site_.time->after(std::chrono::hours{24}, [answer] {
        // nop: after this time the server itself answers.
      });
    if (take(fault_kind::directory_down))
      return answer.send(plc_error(503, "Service Unavailable", {}));
    if (const auto x = take(fault_kind::directory_limit)) {
      auto out = plc_error(429, "Too Many Requests", {});
      add_retry_after(out, x->time);
      return answer.send(std::move(out));
    }
    const auto slow = take(fault_kind::directory_slow);
    auto reply = answer_to(request);
    if (!slow)
      return answer.send(std::move(reply));
    site_.time->after(slow->time, [answer, reply = std::move(reply)] {
      answer.send(reply);
    });
  }

private:
  net::http_reply answer_to(const net::incoming_request& request) const {
    if (request.method != "GET" && request.method != "HEAD")
      return plc_error(405, "Method Not Allowed", {});
    if (request.path == "/_health" || request.path == "/xrpc/_health")
      return health(site_);
    if (request.path == "/export")
      return export_lines(request);
    if (request.path == "/.well-known/atproto-did")
      return well_known_did(request, site_);
    if (request.path == "/xrpc/com.atproto.identity.resolveHandle")
      return resolve_handle(request, site_);
    return document(std::string_view{request.path}.substr(1));
  }

  net::http_reply document(std::string_view did) const {
    const auto index = site_.facts.find(did);
    if (!index || site_.faults.take(fault_kind::directory_forget, 0, did))
      return plc_error(404, "DID not registered: ", did);
    if (site_.faults.take(fault_kind::directory_gone, 0, did))
      return gone(did);
    if (site_.faults.take(fault_kind::directory_wrong, 0, did))
      return document(site_.facts.view((*index + 1) % site_.facts.accounts()));
    if (const auto x = site_.faults.take(fault_kind::directory_stale, 0, did);
        x && *index < x->past->size())
      return document((*x->past)[*index]);
    return document(site_.facts.view(*index));
  }

  net::http_reply document(const account_view& account) const {
    if (account.status == standing::tombstoned)
      return gone(account.id.str());
    auto out = net::json_reply(200, make_did_document(account, site_));
    out.content_type = "application/did+ld+json";
    return out;
  }

  /// The faults of the directory affect the export as well. Those ordered for
  /// an account named "export" affect only the export: 404, 410, a page that
  /// ends within a line, or a page without anything new since the last read.
  net::http_reply export_lines(const net::incoming_request& request) const {
    if (site_.faults.take(fault_kind::directory_forget, 0, export_name))
      return plc_error(404, "Not Found", {});
    if (site_.faults.take(fault_kind::directory_gone, 0, export_name))
      return plc_error(410, "Gone", {});
    if (!site_.faults.take(fault_kind::directory_stale, 0, export_name))
      log_.catch_up();
    const auto* after = request.parameter("after");
    const auto count
      = size_parameter(request, "count", export_lines_max, export_lines_max);
    const auto is_number
      = after != nullptr && !after->empty()
        && after->find_first_not_of("0123456789") == std::string::npos;
    auto lines
      = is_number
          ? log_.lines_after(std::strtoull(after->c_str(), nullptr, 10), count)
          : log_.lines_after(after ? *after : std::string{}, count);
    if (site_.faults.take(fault_kind::directory_wrong, 0, export_name))
      lines = "{\"seq\":" + lines.substr(0, lines.size() / 2);
    auto out = net::json_reply(200, lines);
    out.content_type = "application/jsonlines";
    return out;
  }

  const site& site_;
  mutable directory_log log_;
};

} // namespace

std::shared_ptr<net::http_service> make_plc_service(const site& where,
                                                    wall_time epoch) {
  return std::make_shared<plc_service>(where, epoch);
}

} // namespace weir::simnet
