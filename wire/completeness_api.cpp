#include "wire/completeness_api.hpp"

#include "wire/json_object.hpp"

#include <algorithm>

namespace weir::wire {

namespace {

void add_rev(std::string_view name, const atproto::tid& x, json_object& to) {
  if (x.defined())
    to.text(name, x.str());
  else
    to.null(name);
}

void add_position(std::string_view name, const position& x, json_object& to) {
  if (!x.defined())
    return to.null(name);
  json_object at{to.member(name)};
  at.number("upstream", x.upstream);
  at.number("epoch", x.epoch);
  at.number("seq", x.seq);
}

void append_term(const term_view& x, std::string& out) {
  json_object to{out};
  to.text("term", x.name);
  to.flag("holds", x.holds);
  if (!x.holds)
    to.text("reason", x.reason);
}

void add_upstream(const completeness_upstream& x, json_object& to) {
  if (x.id == 0)
    return to.null("upstream");
  json_object at{to.member("upstream")};
  at.number("id", x.id);
  at.text("origin", x.origin);
  at.text("kind", x.relay ? "relay" : "pds");
  at.flag("connected", x.connected);
  add_position("whole_since", x.since, at);
  at.number("received", x.received);
  at.number("cursor", x.cursor);
  at.time("last_audited", x.audited);
}

void add_complete(const completeness_view& x, json_object& to) {
  if (!x.active) {
    to.null("complete");
    to.text("reason", "an inactive account is not kept up to date: "
                        + std::string{x.account});
    return;
  }
  const bool complete = std::ranges::all_of(x.terms, &term_view::holds);
  to.flag("complete", complete);
  if (!complete)
    to.text("reason", reasons_of(x.terms));
}

void add_numbers(const completeness_counts& x, json_object& to) {
  to.number("active", x.active);
  to.number("complete", x.complete);
  to.number("incomplete", x.active - x.complete);
}

void add_counts(const completeness_counts& x, json_object& to) {
  add_numbers(x, to);
  {
    json_object without{to.member("without")};
    for (const auto& [term, count] : x.without)
      without.number(term, count);
  }
  if (x.oldest.empty())
    return to.null("oldest_incomplete");
  json_object oldest{to.member("oldest_incomplete")};
  oldest.text("did", x.oldest);
  oldest.time("last_sync", x.oldest_sync);
}

void add_counts_if_any(std::string_view name,
                       const std::optional<completeness_counts>& x,
                       json_object& to) {
  if (!x)
    return;
  json_object counts{to.member(name)};
  add_counts(*x, counts);
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
  json_object to{out};
  to.text("did", x.did);
  add_complete(x, to);
  to.text("status", x.status);
  to.text("account", x.account);
  to.list("terms", x.terms, append_term);
  add_upstream(x.upstream, to);
  add_position("proved", x.proved, to);
  add_rev("first_rev", x.first_rev, to);
  add_rev("last_indexed_rev", x.last_indexed_rev, to);
  add_rev("last_stream_rev", x.last_stream_rev, to);
  add_rev("last_rev", x.last_rev, to);
  to.number("filter", x.filter);
  to.number("filter_in_force", x.filter_in_force);
  to.time("last_sync", x.last_sync);
}

void append_summary(const completeness_summary& x, std::string& out) {
  json_object to{out};
  to.time("as_of", x.as_of);
  add_counts(x.all, to);
  to.list("hosts", x.hosts, [](const host_counts& each, std::string& text) {
    json_object host{text};
    host.text("host", each.host);
    add_counts(each.counts, host);
  });
  add_counts_if_any("others", x.others, to);
  add_counts_if_any("unresolved", x.unresolved, to);
  to.text_if_any("cursor", x.cursor);
}

void append_short(int64_t as_of, const completeness_counts& x,
                  std::string& out) {
  json_object to{out};
  to.time("as_of", as_of);
  add_numbers(x, to);
}

} // namespace weir::wire
