#include "apps/weir/host_findings.hpp"

#include <utility>

namespace weir::apps {

void host_findings::find(const atproto::did& repo, std::string sentence) {
  find_of_host(repo.str(), std::move(sentence));
}

void host_findings::find_of_host(const std::string& origin,
                                 std::string sentence) {
  if (++report_.findings_total <= options_.findings_max)
    report_.findings.push_back({"I9", origin, std::move(sentence)});
}

void host_findings::doubt(const atproto::did& repo, const char* what,
                          std::string sentence) {
  count(what);
  if (options_.strict)
    find(repo, std::move(sentence));
}

void host_findings::newer(const atproto::did& repo, std::string sentence) {
  apart(report_.newer, "newer", repo, "newer at the host", std::move(sentence));
}

void host_findings::unfinished(const atproto::did& repo, const char* what,
                               std::string sentence) {
  apart(report_.unfinished, "unfinished", repo, what, std::move(sentence));
}

void host_findings::apart(std::vector<storage::verify_finding>& list,
                          const char* label, const atproto::did& repo,
                          const char* what, std::string sentence) {
  if (list.size() < options_.findings_max)
    list.push_back({label, repo.str(), sentence});
  doubt(repo, what, std::move(sentence));
}

} // namespace weir::apps
