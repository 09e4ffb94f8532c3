#include "actors/api/answers.hpp"
#include "actors/api/completeness_answers.hpp"
#include "actors/support/node_sums.hpp"
#include "base/version.hpp"

namespace weir::actors {

namespace {

void add_causes(const std::vector<health_finding>& causes,
                wire::json_object& out) {
  out.list("causes", causes, [](const health_finding& x, std::string& text) {
    wire::json_object cause{text};
    cause.text("cause", to_string(x.cause));
    append_text(x.where, cause.member("where"));
    append_text(x.error, cause.member("error"));
    append_text(x.remedy(), cause.member("remedy"));
    cause.member("since") += std::to_string(x.since.seconds());
    cause.text("level", to_string(x.level));
  });
}

/// Version and mode of the node and the range of ids that its log gave out.
void add_node(const api_environment& env, wire::json_object& out) {
  const auto events = durable_events(*env.shared);
  out.text("name", "weir");
  out.text("version", version());
  out.text("mode", wire::to_string(env.mode));
  out.text("log_epoch", env.shared->log_epoch);
  out.number("log_begin", events.begin);
  out.number("log_end", events.end);
}

void add_store(const context& shared, wire::json_object& out) {
  wire::json_object store{out.member("store")};
  const auto sizes = store_sizes(shared);
  {
    wire::json_object bytes{store.member("bytes")};
    for (size_t i = 0; i < sizes.size(); ++i)
      bytes.number(storage::to_string(storage::table_family(i)), sizes[i]);
  }
  const auto growth = store_growth_per_day(shared);
  store.member("growth_per_day")
    += growth ? std::to_string(static_cast<int64_t>(*growth)) : "null";
}

void add_counts(std::string_view name, const std::vector<state_count>& counts,
                wire::json_object& out) {
  wire::json_object object{out.member(name)};
  for (const auto& x : counts)
    object.number(x.word, x.count);
}

} // namespace

net::http_reply ready_reply(const api_environment& env) {
  const auto causes = env.shared->health.findings();
  const auto waiting
    = reasons_to_wait(env.ready->load(), env.shared->upstreams.all(),
                      env.shared->intake.reasons(), causes);
  const auto ok = waiting.empty();
  return object_reply(ok ? 200 : 503, [&](wire::json_object& out) {
    out.flag("ready", ok);
    out.list("waiting", waiting, append_text);
    add_causes(causes, out);
  });
}

net::http_reply outbox_reply(const context& x) {
  return object_reply(200, [&x](wire::json_object& out) {
    out.number("outbox_buffer", backlog(x));
    out.number("dead_letters", dead_letters(x));
  });
}

net::http_reply short_status_reply(const api_environment& env) {
  return object_reply(200,
                      [&env](wire::json_object& out) { add_node(env, out); });
}

net::http_reply status_reply(const api_environment& env) {
  const auto& shared = *env.shared;
  return object_reply(200, [&](wire::json_object& out) {
    add_node(env, out);
    // Each repo is counted once in each of the two.
    add_counts("repos", repo_states(shared), out);
    add_counts("accounts", account_states(shared), out);
    const auto uncovered = shared.uncovered.load();
    out.member("uncovered")
      += uncovered < 0 ? "null" : std::to_string(uncovered);
    append_short_count(shared, out.member("completeness"));
    out.number("records", record_count(shared));
    out.number("outbox", backlog(shared));
    out.number("outbox_seconds",
               static_cast<uint64_t>(
                 backlog_seconds(shared, shared.time->wall_now())));
    out.number("dead_letters", dead_letters(shared));
    add_store(shared, out);
    add_causes(shared.health.findings(), out);
  });
}

} // namespace weir::actors
