#include "actors/supervisor/holders_bridge.hpp"

#include "actors/support/store_readers.hpp"
#include "actors/supervisor/holders_machine.hpp"
#include "base/limits_listings.hpp"
#include "messages/journal.hpp"

#include <boost/json.hpp>
#include <caf/send.hpp>

#include <memory>
#include <utility>

namespace weir::actors {

namespace {

namespace json = boost::json;

/// Whether one of the collections that it names is wanted; nothing: it is no
/// answer about this repo.
std::optional<bool> holds(std::string_view body, const atproto::did& repo,
                          const wire::collection_filter& wanted) {
  boost::system::error_code bad;
  const auto x = json::parse(body, bad);
  if (bad || !x.is_object())
    return std::nullopt;
  const auto* did = x.get_object().if_contains("did");
  const auto* names = x.get_object().if_contains("collections");
  if (did == nullptr || !did->is_string() || did->get_string() != repo.str()
      || names == nullptr || !names->is_array())
    return std::nullopt;
  for (const auto& name : names->get_array())
    if (name.is_string() && wanted.matches(name.get_string()))
      return true;
  return false;
}

bool is_tracked(const atproto::did& repo, const store_readers& store) {
  const auto known = store.load_repo(repo);
  return known && known->row;
}

/// Asks about the accounts of a page, one after the other. The request that is
/// under way keeps it alive.
class holders_page : public std::enable_shared_from_this<holders_page> {
public:
  holders_page(net::http_client_ptr client, net::url host,
               wire::collection_filter collections, listing_page page,
               supervisor_actor to)
    : client_(client), host_(std::move(host)), wanted_(std::move(collections)),
      lines_(std::move(page.repos)), out_(std::move(page)), to_(std::move(to)) {
    out_.repos.clear();
  }

  /// What is tracked is followed whatever it holds, and compared by the listing
  /// of all repos.
  void pass_over_known(const store_readers& store) {
    for (auto& line : std::exchange(lines_, {}))
      (line.account == storage::account_status::active
           && !is_tracked(line.repo, store)
         ? lines_
         : out_.without)
        .push_back(std::move(line));
  }

  void go_on() {
    const auto client = client_.lock();
    if (!client)
      return;
    if (next_ == lines_.size())
      return end();
    std::string path = "/xrpc/com.atproto.repo.describeRepo";
    net::append_query(path, "repo", lines_[next_].repo.str());
    net::http_request request;
    request.target = host_.with_target(std::move(path));
    request.limits.body_bytes_max = limits::describe_bytes_max;
    ++out_.asked;
    client->get(std::move(request),
                [self = shared_from_this()](const auto& x) { self->take(x); });
  }

private:
  using answer = holders_machine::answer;

  static answer kind_of(const result<net::http_response>& x) {
    if (!x)
      return x.error().code == ec::limit_reached ? answer::unclear
                                                 : answer::away;
    switch (x->status) {
      case 408:
      case 502:
      case 503:
      case 504:
        return answer::away;
      case 401:
      case 404:
      case 501:
        return answer::refused;
      default:
        return answer::unclear;
    }
  }

  void take(const result<net::http_response>& x) {
    if (x && x->status == 429)
      return give_up(fail(ec::unreachable, "HTTP 429"),
                     x->retry_after.value_or(
                       x->rate_limit_reset.value_or(std::chrono::seconds{0})));
    auto& line = lines_[next_];
    const auto found = x && x->status == 200
                         ? holds(as_text(x->body), line.repo, wanted_)
                         : std::nullopt;
    switch (machine_.on_answer(found ? answer::described : kind_of(x))) {
      case holders_machine::step::again:
        return go_on();
      case holders_machine::step::next:
        (found.value_or(false) ? out_.repos : out_.without)
          .push_back(std::move(line));
        ++next_;
        return go_on();
      case holders_machine::step::not_offered:
        return give_up(fail(ec::not_found, "describeRepo is not offered"), {});
      case holders_machine::step::host_away:
        return give_up(x ? fail(ec::unreachable,
                                "describeRepo: HTTP "
                                  + std::to_string(x->status))
                         : x.error(),
                       {});
    }
  }

  void give_up(error why, std::chrono::seconds wait) {
    out_.failed = std::move(why);
    out_.retry_after = wait;
    out_.repos.clear();
    out_.without.clear();
    end();
  }

  void end() {
    out_.unanswered = machine_.unanswered();
    caf::anon_send(to_, std::move(out_));
  }

  std::weak_ptr<net::http_client> client_;
  net::url host_;
  wire::collection_filter wanted_;
  std::vector<repo_listed> lines_;
  listing_page out_;
  supervisor_actor to_;
  size_t next_ = 0;
  holders_machine machine_;
};

} // namespace

void find_holders(net::http_client_ptr client, net::url host,
                  wire::collection_filter collections, reader_actor store,
                  listing_page page, supervisor_actor to) {
  reader_job job;
  job.run = [asked = std::make_shared<holders_page>(
               std::move(client), std::move(host), std::move(collections),
               std::move(page), std::move(to))](const store_readers& rows) {
    asked->pass_over_known(rows);
    asked->go_on();
  };
  caf::anon_send(store, std::move(job));
}

} // namespace weir::actors
