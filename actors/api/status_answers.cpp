#include "actors/api/status_answers.hpp"

#include "actors/api/answers.hpp"
#include "actors/api/completeness_answers.hpp"
#include "actors/support/node_sums.hpp"
#include "base/version.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

void append_causes(const std::vector<health_finding>& causes,
                   std::string& out) {
  out += '[';
  for (const auto& x : causes) {
    out += &x == causes.data() ? R"({"cause":")" : R"(,{"cause":")";
    out += to_string(x.cause);
    out += R"(","where":)";
    append_text(x.where, out);
    out += R"(,"error":)";
    append_text(x.error, out);
    out += R"(,"remedy":)";
    append_text(x.remedy(), out);
    out += R"(,"since":)" + std::to_string(x.since.seconds());
    out += R"(,"level":")";
    out += to_string(x.level);
    out += "\"}";
  }
  out += ']';
}

/// Adds streams that are not open, if the node does not work without them. A
/// stream that was never open is starting, until a finding names it.
void add_missing_streams(const std::vector<upstream_view>& all,
                         const std::vector<health_finding>& causes,
                         std::vector<std::string>& out) {
  const auto is_away = [](const upstream_view& x) {
    return !x.connected;
  };
  const auto is_named = [&](const upstream_view& x) {
    return std::any_of(causes.begin(), causes.end(), [&](const auto& y) {
      return y.cause == health_cause::upstream && y.where == x.origin;
    });
  };
  const auto stops = stops_work(all, is_away);
  for (const auto& x : all)
    if (is_away(x) && (stops || !(x.opened || is_named(x))))
      out.push_back(to_string(health_cause::upstream)
                    + (": " + x.origin + " is not connected"));
}

/// Appends version and mode of the node and the range of its log's ids: the log
/// is never cut off at its begin.
void append_node(const api_environment& env, std::string& body) {
  const auto events = durable_events(*env.shared);
  body += R"("name":"weir","version":")";
  body += version();
  body += R"(","mode":")";
  body += wire::to_string(env.mode);
  body += R"(","log_epoch":")" + env.shared->log_epoch;
  body += R"(","log_begin":)" + std::to_string(events.begin);
  body += R"(,"log_end":)" + std::to_string(events.end);
}

void append_outbox(const api_environment& env, std::string& body) {
  const auto& shared = *env.shared;
  body += R"(,"outbox":)" + std::to_string(backlog(shared));
  body += R"(,"outbox_seconds":)"
          + std::to_string(static_cast<uint64_t>(
            backlog_seconds(shared, shared.time->wall_now())));
  body += R"(,"dead_letters":)" + std::to_string(dead_letters(shared));
}

void append_store(const api_environment& env, std::string& body) {
  const auto sizes = store_sizes(*env.shared);
  body += R"(,"store":{"bytes":{)";
  for (size_t i = 0; i < sizes.size(); ++i) {
    body += i == 0 ? "\"" : ",\"";
    body += storage::to_string(storage::table_family(i));
    body += "\":" + std::to_string(sizes[i]);
  }
  body += R"(},"growth_per_day":)";
  const auto growth = store_growth_per_day(*env.shared);
  body += growth ? std::to_string(static_cast<int64_t>(*growth)) : "null";
  body += '}';
}

void append_counts(std::string_view name, const std::vector<state_count>& counts,
                   std::string& out) {
  out.append(",\"").append(name).append("\":{");
  for (const auto& x : counts) {
    out += &x == counts.data() ? "\"" : ",\"";
    out += x.word;
    out += "\":" + std::to_string(x.count);
  }
  out += '}';
}

} // namespace

net::http_reply ready_reply(const api_environment& env) {
  std::vector<std::string> waiting;
  if (!env.ready->load())
    waiting.emplace_back("starting");
  const auto causes = env.shared->health.findings();
  add_missing_streams(env.shared->upstreams.all(), causes, waiting);
  for (auto& x : env.shared->intake.reasons())
    waiting.push_back(std::move(x));
  for (const auto& x : causes) {
    auto who = std::string{to_string(x.cause)} + ": ";
    if (x.cause == health_cause::upstream)
      who += x.where + " ";
    const auto is_there = std::ranges::any_of(waiting, [&](const auto& y) {
      return x.cause == health_cause::upstream && y.starts_with(who);
    });
    if (x.level == health_level::failing && !is_there)
      waiting.push_back(who + x.error);
  }
  const auto ok = waiting.empty();
  std::string body = R"({"ready":)";
  body += ok ? "true" : "false";
  body += R"(,"waiting":[)";
  for (const auto& x : waiting) {
    body += &x == waiting.data() ? "" : ",";
    append_text(x, body);
  }
  body += R"(],"causes":)";
  append_causes(causes, body);
  return net::json_reply(ok ? 200 : 503, body + '}');
}

net::http_reply outbox_reply(const context& x) {
  return net::json_reply(200, R"({"outbox_buffer":)"
                                + std::to_string(backlog(x))
                                + R"(,"dead_letters":)"
                                + std::to_string(dead_letters(x)) + '}');
}

net::http_reply short_status_reply(const api_environment& env) {
  std::string body = "{";
  append_node(env, body);
  return net::json_reply(200, body + '}');
}

net::http_reply status_reply(const api_environment& env) {
  std::string body = "{";
  append_node(env, body);
  // Each repo is counted once in each of the two.
  append_counts("repos", repo_states(*env.shared), body);
  append_counts("accounts", account_states(*env.shared), body);
  const auto uncovered = env.shared->uncovered.load();
  body += R"(,"uncovered":)"
          + (uncovered < 0 ? "null" : std::to_string(uncovered));
  body += R"(,"completeness":)";
  append_short_count(*env.shared, body);
  body += R"(,"records":)" + std::to_string(record_count(*env.shared));
  append_outbox(env, body);
  append_store(env, body);
  body += R"(,"causes":)";
  append_causes(env.shared->health.findings(), body);
  body += '}';
  return net::json_reply(200, body);
}

} // namespace weir::actors
