#include "apps/weir/repo_fetch.hpp"

#include "actors/backfill/limits.hpp"
#include "apps/weir/host_accounts.hpp"
#include "atproto/limits.hpp"

#include <filesystem>

namespace weir::apps {

namespace {

constexpr size_t refusal_bytes_max = 512;

std::string temporary_directory() {
  std::error_code ignored;
  const auto out = std::filesystem::temp_directory_path(ignored);
  return out.empty() ? "." : out.string();
}

} // namespace

/// Gives the body to the walk, and keeps the beginning of a refusal.
class repo_fetch::receiver final : public net::http_sink {
public:
  explicit receiver(repo_fetch& to) : to_(to) {}

  bool on_head(const net::http_response_head& head) override {
    status_ = head.status;
    return true;
  }

  void on_body(bytes_view piece) override {
    if (status_ != 200)
      refusal_.append(as_text(piece).substr(
        0, refusal_bytes_max - std::min(refusal_bytes_max, refusal_.size())));
    else if (fed_)
      fed_ = to_.walk_.feed(piece);
  }

  void on_end(result<void> outcome) override {
    if (!outcome)
      return to_.give_up(fetch_outcome::failed, outcome.error().context);
    if (const auto said = standing_in_refusal(status_, refusal_))
      return to_.give_up(*said == host_standing::absent
                           ? fetch_outcome::absent
                           : fetch_outcome::inactive,
                         refusal_);
    if (status_ != 200)
      return to_.give_up(fetch_outcome::failed,
                         "HTTP " + std::to_string(status_) + " " + refusal_);
    if (!fed_)
      return to_.give_up(fetch_outcome::unproved, fed_.error().context);
    to_.outcome_ = fetch_outcome::good;
  }

private:
  repo_fetch& to_;
  int status_ = 0;
  std::string refusal_;
  result<void> fed_;
};

repo_fetch::repo_fetch(const atproto::did& repo, atproto::public_key key)
  : repo_(repo), key_(std::move(key)),
    store_(temporary_directory(), limits::spool_memory_bytes_max,
           limits::repo_car_bytes_max),
    index_(temporary_directory(), 0, limits::repo_car_bytes_max),
    walk_(repo, store_, index_) {}

void repo_fetch::run(web_client& web, const std::string& origin) {
  auto target = net::parse_url(origin);
  if (!target)
    return give_up(fetch_outcome::failed, target.error().context);
  std::string path = "/xrpc/com.atproto.sync.getRepo";
  net::append_query(path, "did", repo_.str());
  net::http_request request;
  request.target = target->with_target(std::move(path));
  request.accept_gzip = true;
  request.limits.body_bytes_max = limits::repo_car_bytes_max;
  request.limits.total = limits::repo_fetch_timeout;
  web.stream(std::move(request), std::make_shared<receiver>(*this));
  if (outcome_ == fetch_outcome::good)
    prove();
}

void repo_fetch::prove() {
  auto root = walk_.finish(key_, system_clock().wall_now());
  if (!root)
    return give_up(fetch_outcome::unproved, root.error().reason);
  root_ = std::move(*root);
  const auto walked = visit(4'096, [](const auto&) -> result<void> {
    return {};
  });
  if (!walked)
    give_up(fetch_outcome::unproved, walked.error().context);
}

result<void> repo_fetch::visit(
  size_t step,
  const std::function<result<void>(const atproto::walked_record&)>& each) {
  walk_.rewind();
  for (result<void> ok;;) {
    const auto over = walk_.step(step, [&](const auto& x) {
      if (ok)
        ok = each(x);
    });
    if (!ok)
      return ok;
    if (!over)
      return over.error();
    if (*over)
      return {};
  }
}

} // namespace weir::apps
