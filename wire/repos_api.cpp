#include "wire/repos_api.hpp"

#include "wire/json_object.hpp"

namespace weir::wire {

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
  json_object to{out};
  to.text("mode", to_string(x.mode));
  if (x.signal_collections.empty())
    to.null("signal_collection");
  else
    to.text("signal_collection", x.signal_collections.front());
  if (x.signal_collections.size() > 1)
    to.texts("signal_collections", x.signal_collections);
  to.texts("collections", x.collections);
}

void append_repo(const repo_view& x, std::string& out) {
  json_object to{out};
  to.text("did", x.did);
  to.text("status", x.status);
  to.text_if_any("account", x.account);
  if (x.rev.defined())
    to.text("rev", x.rev.str());
  to.number("record_count", x.record_count);
  if (x.last_sync != 0)
    to.time("last_sync", x.last_sync);
  to.text_if_any("error", x.error);
  to.number("retry_count", x.retry_count);
  if (x.next_retry != 0)
    to.time("next_retry", x.next_retry);
  if (!x.collections.empty())
    to.texts("collections", x.collections);
  to.flag_if_any("complete", x.complete);
  to.text_if_any("reason", x.reason);
}

void append_repos(std::span<const repo_view> repos, std::string_view cursor,
                  std::string& out) {
  json_object to{out};
  to.list("repos", repos, append_repo);
  to.text_if_any("cursor", cursor);
}

} // namespace weir::wire
