#include "actors/api/completeness_answers.hpp"

#include "actors/api/answers.hpp"
#include "actors/support/state_words.hpp"
#include "net/url.hpp"

namespace weir::actors {

namespace {

wire::completeness_upstream to_view(const upstream_view& x) {
  return {.id = x.id,
          .origin = x.origin,
          .relay = x.relay,
          .connected = x.connected,
          .since = x.since_reset(),
          .received = x.received,
          .cursor = x.cursor};
}

wire::completeness_counts to_counts(const completeness_count& x) {
  wire::completeness_counts out;
  out.active = x.active;
  out.complete = x.complete;
  for (size_t i = 0; i < x.without.size(); ++i)
    if (x.without[i] > 0)
      out.without.emplace_back(completeness::all_terms[i].name, x.without[i]);
  out.oldest = x.oldest.str();
  out.oldest_sync = x.oldest_sync;
  return out;
}

std::vector<wire::term_view> terms_of(const storage::repo_row& row,
                                      const storage::chain_row* chain,
                                      const upstream_view& upstream,
                                      uint32_t filter) {
  const auto x = completeness::explain(row, chain, upstream, filter);
  std::vector<wire::term_view> out;
  for (size_t i = 0; i < completeness::all_terms.size(); ++i) {
    const auto& term = completeness::all_terms[i];
    const auto holds = x.*term.holds;
    out.push_back({term.name, holds,
                   holds ? std::string{}
                         : completeness::reason(i, row, chain, upstream,
                                                filter)});
  }
  return out;
}

upstream_view upstream_of(const storage::repo_row& row, const context& shared) {
  return completeness::accounting(shared.upstreams, row.pds,
                                  shared.time->steady_now(),
                                  shared.time->wall_now());
}

} // namespace

completeness_verdict judge(const api_environment& env,
                           const storage::repo_row& row,
                           const storage::chain_row* chain) {
  completeness_verdict out;
  if (!completeness::counts(row))
    return out;
  const auto upstream = upstream_of(row, *env.shared);
  const auto filter = env.filter_generation;
  out.complete
    = completeness::explain(row, chain, upstream, filter).complete();
  out.reason = wire::reasons_of(terms_of(row, chain, upstream, filter));
  return out;
}

net::http_reply completeness_reply(const store_readers& store,
                                   const api_environment& env,
                                   const atproto::did& did) {
  const auto rows = store.load_repo(did);
  if (!rows)
    return problem(rows.error());
  if (!rows->row)
    return net::error_reply(404, "RepoNotFound", did.str() + " is not tracked");
  const auto& row = *rows->row;
  const auto* chain = rows->chain.get();
  const auto upstream = upstream_of(row, *env.shared);
  const auto filter = env.filter_generation;
  const auto terms = terms_of(row, chain, upstream, filter);
  wire::completeness_view view;
  view.did = did.str();
  view.status = storage::to_string(row.status);
  view.account = account_word(row.account);
  view.active = completeness::counts(row);
  view.terms = terms;
  view.upstream = to_view(upstream);
  view.upstream.audited = env.shared->upstreams.audited(upstream.id);
  view.proved = row.fcsr;
  view.first_rev = row.first_rev;
  view.last_indexed_rev = row.last_indexed_rev;
  if (chain != nullptr)
    view.last_stream_rev = chain->streamed;
  view.last_rev = completeness::last_rev(row, chain);
  view.filter = row.filter_generation;
  view.filter_in_force = filter;
  view.last_sync = row.last_sync;
  return written(wire::append_completeness, view);
}

net::http_reply summary_reply(const api_environment& env,
                              const net::incoming_request& request) {
  const auto limit = parse_limit(request);
  if (!limit)
    return problem(limit.error());
  const auto* cursor = request.parameter("cursor");
  if (cursor != nullptr && !net::parse_url(*cursor))
    return problem(fail(ec::invalid_argument, "cursor is not one of ours"));
  const auto last = env.shared->completeness.last();
  wire::completeness_summary out;
  if (last.census != nullptr) {
    const auto& census = *last.census;
    out.as_of = last.at.seconds();
    out.all = to_counts(census.all());
    if (census.others().active > 0)
      out.others = to_counts(census.others());
    const auto& hosts = census.hosts();
    if (const auto i = hosts.find(std::string{}); i != hosts.end())
      out.unresolved = to_counts(i->second);
    auto i = hosts.upper_bound(cursor == nullptr ? std::string{} : *cursor);
    for (; i != hosts.end() && out.hosts.size() < *limit; ++i)
      out.hosts.push_back({i->first, to_counts(i->second)});
    if (i != hosts.end())
      out.cursor = out.hosts.back().host;
  }
  return written(wire::append_summary, out);
}

void append_short_count(const context& shared, std::string& out) {
  const auto last = shared.completeness.last();
  if (last.census == nullptr) {
    out += "null";
    return;
  }
  wire::append_short(last.at.seconds(), to_counts(last.census->all()), out);
}

} // namespace weir::actors
