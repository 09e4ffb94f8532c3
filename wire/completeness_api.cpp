#include "wire/completeness_api.hpp"

#include "atproto/record_json.hpp"

#include <algorithm>

namespace weir::wire {

namespace {

using atproto::append_json_string;

void append_bool(std::string_view name, bool x, std::string& out) {
  out += name;
  out += x ? "true" : "false";
}

void append_number(std::string_view name, uint64_t x, std::string& out) {
  out += name;
  out += std::to_string(x);
}

void append_time(std::string_view name, int64_t x, std::string& out) {
  out += name;
  out += x == 0 ? "null" : std::to_string(x);
}

void append_rev(std::string_view name, const atproto::tid& x,
                std::string& out) {
  out += name;
  if (x.defined())
    append_json_string(x.str(), out);
  else
    out += "null";
}

void append_position(std::string_view name, const position& x,
                     std::string& out) {
  out += name;
  if (!x.defined()) {
    out += "null";
    return;
  }
  append_number(R"({"upstream":)", x.upstream, out);
  append_number(R"(,"epoch":)", x.epoch, out);
  append_number(R"(,"seq":)", x.seq, out);
  out += '}';
}

void append_terms(std::span<const term_view> terms, std::string& out) {
  out += R"(,"terms":[)";
  for (const auto& x : terms) {
    out += &x == terms.data() ? R"({"term":)" : R"(,{"term":)";
    append_json_string(x.name, out);
    append_bool(R"(,"holds":)", x.holds, out);
    if (!x.holds) {
      out += R"(,"reason":)";
      append_json_string(x.reason, out);
    }
    out += '}';
  }
  out += ']';
}

void append_upstream(const completeness_upstream& x, std::string& out) {
  out += R"(,"upstream":)";
  if (x.id == 0) {
    out += "null";
    return;
  }
  append_number(R"({"id":)", x.id, out);
  out += R"(,"origin":)";
  append_json_string(x.origin, out);
  out += R"(,"kind":)";
  append_json_string(x.relay ? "relay" : "pds", out);
  append_bool(R"(,"connected":)", x.connected, out);
  append_position(R"(,"whole_since":)", x.since, out);
  append_number(R"(,"received":)", x.received, out);
  append_number(R"(,"cursor":)", x.cursor, out);
  append_time(R"(,"last_audited":)", x.audited, out);
  out += '}';
}

void append_complete(const completeness_view& x, std::string& out) {
  out += R"(,"complete":)";
  if (!x.active) {
    out += R"(null,"reason":"an inactive account is not kept up to date: )";
    out += x.account;
    out += '"';
    return;
  }
  if (std::all_of(x.terms.begin(), x.terms.end(), [](const auto& term) {
        return term.holds;
      })) {
    out += "true";
    return;
  }
  out += R"(false,"reason":)";
  append_json_string(reasons_of(x.terms), out);
}

void append_counts(const completeness_counts& x, std::string& out) {
  append_number(R"("active":)", x.active, out);
  append_number(R"(,"complete":)", x.complete, out);
  append_number(R"(,"incomplete":)", x.active - x.complete, out);
  out += R"(,"without":{)";
  for (const auto& [term, count] : x.without) {
    if (&term != &x.without.front().first)
      out += ',';
    append_json_string(term, out);
    append_number(":", count, out);
  }
  out += R"(},"oldest_incomplete":)";
  if (x.oldest.empty()) {
    out += "null";
    return;
  }
  out += R"({"did":)";
  append_json_string(x.oldest, out);
  append_time(R"(,"last_sync":)", x.oldest_sync, out);
  out += '}';
}

} // namespace

std::string reasons_of(std::span<const term_view> terms) {
  std::string out;
  for (const auto& x : terms)
    if (!x.holds)
      out += (out.empty() ? "" : "; ") + x.reason;
  return out;
}

void append_completeness(const completeness_view& x, std::string& out) {
  out += R"({"did":)";
  append_json_string(x.did, out);
  append_complete(x, out);
  out += R"(,"status":)";
  append_json_string(x.status, out);
  out += R"(,"account":)";
  append_json_string(x.account, out);
  append_terms(x.terms, out);
  append_upstream(x.upstream, out);
  append_position(R"(,"proved":)", x.proved, out);
  append_rev(R"(,"first_rev":)", x.first_rev, out);
  append_rev(R"(,"last_indexed_rev":)", x.last_indexed_rev, out);
  append_rev(R"(,"last_stream_rev":)", x.last_stream_rev, out);
  append_rev(R"(,"last_rev":)", x.last_rev, out);
  append_number(R"(,"filter":)", x.filter, out);
  append_number(R"(,"filter_in_force":)", x.filter_in_force, out);
  append_time(R"(,"last_sync":)", x.last_sync, out);
  out += '}';
}

void append_summary(const completeness_summary& x, std::string& out) {
  append_time(R"({"as_of":)", x.as_of, out);
  out += ',';
  append_counts(x.all, out);
  out += R"(,"hosts":[)";
  for (const auto& each : x.hosts) {
    out += &each == x.hosts.data() ? R"({"host":)" : R"(,{"host":)";
    append_json_string(each.host, out);
    out += ',';
    append_counts(each.counts, out);
    out += '}';
  }
  out += ']';
  if (x.others) {
    out += R"(,"others":{)";
    append_counts(*x.others, out);
    out += '}';
  }
  if (x.unresolved) {
    out += R"(,"unresolved":{)";
    append_counts(*x.unresolved, out);
    out += '}';
  }
  if (!x.cursor.empty()) {
    out += R"(,"cursor":)";
    append_json_string(x.cursor, out);
  }
  out += '}';
}

void append_short(int64_t as_of, const completeness_counts& x,
                  std::string& out) {
  append_time(R"({"as_of":)", as_of, out);
  append_number(R"(,"active":)", x.active, out);
  append_number(R"(,"complete":)", x.complete, out);
  append_number(R"(,"incomplete":)", x.active - x.complete, out);
  out += '}';
}

} // namespace weir::wire
