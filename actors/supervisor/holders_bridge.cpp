#include "actors/supervisor/holders_bridge.hpp"

#include "actors/supervisor/limits.hpp"
#include "actors/support/account_json.hpp"
#include "messages/journal.hpp"

#include <boost/json.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace weir::actors {

namespace {

/// Whether one of the collections in the answer is wanted. Nothing: it is not
/// an answer about this repo.
std::optional<bool> holds(std::string_view body, const atproto::did& repo,
                          const wire::collection_filter& wanted) {
  const auto x = parse_object(body);
  const auto* names = x ? x->if_contains("collections") : nullptr;
  if (names == nullptr || !names->is_array()
      || text_of(*x, "did") != repo.str())
    return std::nullopt;
  return std::ranges::any_of(names->get_array(), [&](const auto& name) {
    return name.is_string() && wanted.matches(name.get_string());
  });
}

bool is_tracked(const atproto::did& repo, const all_stores& stores) {
  const auto row = stores.of(repo).load_row(repo);
  return row && *row;
}

/// Whether a protocol error states that the host does not serve this account.
/// Another 404 may come from a proxy, or from a host without this method.
bool is_absence(const net::http_response& x) {
  if (x.status != 400 && x.status != 404)
    return false;
  const auto body = parse_object(as_text(x.body));
  return body && account_of_error(text_of(*body, "error"));
}

/// Asks about the accounts of a page, one after the other. The request under
/// way keeps the object alive.
class holders_page : public std::enable_shared_from_this<holders_page> {
public:
  holders_page(holders_question about, bool first, listing_page page)
    : about_(std::move(about)), run_(about_.runs->take(page.upstream)),
      lines_(std::move(*page.repos)), out_(std::move(page)) {
    out_.repos->clear();
    if (first)
      run_.begin();
  }

  /// Skips tracked repos: they are followed whatever records they have, and the
  /// listing of all repos compares them.
  void pass_over_known() {
    for (auto& line : std::exchange(lines_, {})) {
      const auto active = line.account == storage::account_status::active;
      const auto tracked
        = active && is_tracked(line.repo, about_.shared->stores);
      known_ += tracked ? 1 : 0;
      (active && !tracked ? lines_ : out_.without).push_back(std::move(line));
    }
  }

  void go_on() {
    const auto client = about_.client.lock();
    if (!client)
      return;
    pass_over_kept();
    if (said_.size() == lines_.size())
      return end_page();
    std::string path = "/xrpc/com.atproto.repo.describeRepo";
    net::append_query(path, "repo", lines_[said_.size()].repo.str());
    net::http_request request;
    request.target = about_.host.with_target(std::move(path));
    request.limits.body_bytes_max = limits::describe_bytes_max;
    ++out_.asked;
    client->get(std::move(request),
                [self = shared_from_this()](const auto& x) { self->take(x); });
  }

private:
  using answer = holders_machine::answer;
  using said = holders_run::said;

  void pass_over_kept() {
    while (said_.size() < lines_.size()) {
      const auto x = run_.kept(lines_[said_.size()].repo);
      if (!x)
        return;
      if (*x != said::nothing)
        machine_.on_known();
      said_.push_back(*x);
    }
  }

  static answer kind_of(const result<net::http_response>& x) {
    if (!x)
      return x.error().code == ec::limit_reached ? answer::unclear
                                                 : answer::away;
    if (is_absence(*x))
      return answer::absent;
    const auto status = x->status;
    if (status == 408 || (status >= 502 && status <= 504))
      return answer::away;
    if (status == 401 || status == 404 || status == 501)
      return answer::refused;
    return answer::unclear;
  }

  void take(const result<net::http_response>& x) {
    if (x && x->status == 429) { // The host asks us to wait.
      keep_answers();
      return give_up(
        fail(answered_ > 0 ? ec::rate_limited : ec::unreachable, "HTTP 429"),
        x->wait());
    }
    const auto found
      = x && x->status == 200
          ? holds(as_text(x->body), lines_[said_.size()].repo, about_.wanted)
          : std::nullopt;
    const auto kind = found ? answer::described : kind_of(x);
    switch (machine_.on_answer(kind)) {
      case holders_machine::step::again:
        return go_on();
      case holders_machine::step::next:
        said_.push_back(found ? (*found ? said::holds : said::without)
                        : kind == answer::absent ? said::absent
                                                 : said::nothing);
        answered_ += said_.back() == said::nothing ? 0 : 1;
        return go_on();
      case holders_machine::step::not_offered:
        run_.forget_page();
        return give_up(fail(ec::not_found, "describeRepo is not offered"));
      case holders_machine::step::host_away:
        keep_answers();
        return give_up(x ? fail(ec::unreachable,
                                "describeRepo: HTTP "
                                  + std::to_string(x->status))
                         : x.error());
    }
  }

  /// Accounts that were passed over are asked about again, since the host may
  /// already have been away.
  void keep_answers() {
    run_.forget_page();
    for (size_t i = 0; i < said_.size(); ++i)
      if (said_[i] != said::nothing)
        run_.keep(lines_[i].repo, said_[i]);
  }

  void give_up(error why, std::chrono::seconds wait = {}) {
    out_.repos = std::move(why);
    out_.retry_after = wait;
    out_.without.clear();
    end();
  }

  /// All accounts of the page were asked about.
  void end_page() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      run_.count(said_[i]);
      (said_[i] == said::holds ? *out_.repos : out_.without)
        .push_back(std::move(lines_[i]));
    }
    run_.count_known(known_);
    run_.forget_page();
    out_.unanswered = machine_.unanswered();
    if (out_.cursor.empty())
      out_.unanswered += run_.disowned();
    end();
  }

  void end() {
    about_.runs->put(out_.upstream, std::move(run_));
    caf::anon_send(about_.to, std::move(out_));
  }

  holders_question about_;
  holders_run run_;
  std::vector<repo_listed> lines_;
  std::vector<said> said_; ///< The results for the first lines.
  listing_page out_;
  /// Answers since the page was requested; they are kept.
  size_t answered_ = 0;
  size_t known_ = 0;    ///< Active accounts of the page that are tracked.
  holders_machine machine_;
};

} // namespace

void find_holders(holders_question about, bool first, listing_page page) {
  const auto shared = about.shared;
  reader_job job;
  job.run = [asked = std::make_shared<holders_page>(
               std::move(about), first, std::move(page))](store_readers&) {
    asked->pass_over_known();
    asked->go_on();
  };
  caf::anon_send(shared->root().reader_of(0), std::move(job));
}

} // namespace weir::actors
