#include "wire/repos_api.hpp"

#include "atproto/record_json.hpp"

namespace weir::wire {

namespace {

using atproto::append_json_string;

void append_list(std::span<const std::string> list, std::string& out) {
  out += '[';
  for (const auto& x : list) {
    if (&x != list.data())
      out += ',';
    append_json_string(x, out);
  }
  out += ']';
}

void append_time(std::string_view name, int64_t seconds, std::string& out) {
  if (seconds == 0)
    return;
  out += name;
  out += std::to_string(seconds);
}

} // namespace

std::string_view to_string(sync_mode x) noexcept {
  switch (x) {
    case sync_mode::manual:
      return "manual";
    case sync_mode::signal:
      return "signal";
    case sync_mode::full_network:
      return "full-network";
  }
  return "unknown";
}

void append_config(const config_view& x, std::string& out) {
  out += R"({"mode":")";
  out += to_string(x.mode);
  out += R"(","signal_collection":)";
  if (x.signal_collections.empty())
    out += "null";
  else
    append_json_string(x.signal_collections.front(), out);
  if (x.signal_collections.size() > 1) {
    out += R"(,"signal_collections":)";
    append_list(x.signal_collections, out);
  }
  out += R"(,"collections":)";
  append_list(x.collections, out);
  out += '}';
}

void append_repo(const repo_view& x, std::string& out) {
  out += R"({"did":)";
  append_json_string(x.did, out);
  out += R"(,"status":)";
  append_json_string(x.status, out);
  if (!x.account.empty()) {
    out += R"(,"account":)";
    append_json_string(x.account, out);
  }
  if (x.rev.defined()) {
    out += R"(,"rev":")";
    out += x.rev.str();
    out += '"';
  }
  out += R"(,"record_count":)";
  out += std::to_string(x.record_count);
  append_time(R"(,"last_sync":)", x.last_sync, out);
  if (!x.error.empty()) {
    out += R"(,"error":)";
    append_json_string(x.error, out);
  }
  out += R"(,"retry_count":)";
  out += std::to_string(x.retry_count);
  append_time(R"(,"next_retry":)", x.next_retry, out);
  if (!x.collections.empty()) {
    out += R"(,"collections":)";
    append_list(x.collections, out);
  }
  if (x.complete)
    out += *x.complete ? R"(,"complete":true)" : R"(,"complete":false)";
  if (!x.reason.empty()) {
    out += R"(,"reason":)";
    append_json_string(x.reason, out);
  }
  out += '}';
}

void append_repos(std::span<const repo_view> repos, std::string_view cursor,
                  std::string& out) {
  out += R"({"repos":[)";
  for (const auto& x : repos) {
    if (&x != repos.data())
      out += ',';
    append_repo(x, out);
  }
  out += ']';
  if (!cursor.empty()) {
    out += R"(,"cursor":)";
    append_json_string(cursor, out);
  }
  out += '}';
}

} // namespace weir::wire
