#include "actors/supervisor/holders_bridge.hpp"

#include "actors/supervisor/holders_page.hpp"
#include "actors/supervisor/limits.hpp"
#include "messages/journal.hpp"

#include <caf/send.hpp>

namespace weir::actors {

namespace {

void send_page(holders_page& page, const holders_question& about) {
  auto out = page.take_page();
  about.runs->put(out.upstream, page.take_run());
  caf::anon_send(about.to, std::move(out));
}

/// Asks about the accounts of a page, one after the other. The request under
/// way keeps the page alive.
void go_on(const std::shared_ptr<holders_page>& page,
           const holders_question& about) {
  const auto client = about.client.lock();
  if (!client)
    return;
  const auto* repo = page->next();
  if (repo == nullptr)
    return send_page(*page, about);
  std::string path = "/xrpc/com.atproto.repo.describeRepo";
  net::append_query(path, "repo", repo->str());
  net::http_request request;
  request.target = about.host.with_target(std::move(path));
  request.limits.body_bytes_max = limits::describe_bytes_max;
  client->get(std::move(request), [page, about](const auto& x) {
    if (page->on_answer(as_host_answer(x), about.wanted))
      go_on(page, about);
    else
      send_page(*page, about);
  });
}

} // namespace

void find_holders(holders_question about, bool first, listing_page page) {
  auto run = about.runs->take(page.upstream);
  const auto asked
    = std::make_shared<holders_page>(std::move(run), first, std::move(page));
  reader_job job;
  job.run = [asked, about](store_readers&) {
    asked->pass_over_known([&about](const atproto::did& repo) {
      const auto row = about.shared->stores.of(repo).load_row(repo);
      return row && *row;
    });
    go_on(asked, about);
  };
  caf::anon_send(about.shared->root().reader_of(0), std::move(job));
}

} // namespace weir::actors
