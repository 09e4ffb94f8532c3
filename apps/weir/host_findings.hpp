#pragma once

#include "apps/weir/host_check.hpp"
#include "atproto/identifiers.hpp"

#include <string>
#include <utility>

namespace weir::apps {

/// Collects the findings of a comparison with a host.
///
/// # Ownership and threads
/// Borrows the options. One thread.
class host_findings {
public:
  explicit host_findings(const host_check_options& options)
    : options_(options) {}

  void count(const char* what, uint64_t n = 1) { report_.counts[what] += n; }

  void find(const atproto::did& repo, std::string sentence) {
    find_of_host(repo.str(), std::move(sentence));
  }

  /// Adds a finding about the host as a whole.
  void find_of_host(const std::string& origin, std::string sentence) {
    if (++report_.findings_total <= options_.findings_max)
      report_.findings.push_back({"I9", origin, std::move(sentence)});
  }

  /// Adds something that is no proof of damage.
  void note(const atproto::did& repo, const char* what, std::string sentence) {
    count(what);
    if (options_.strict)
      find(repo, std::move(sentence));
  }

  /// Adds a change at the host after the time up to which the node has
  /// everything.
  void newer(const atproto::did& repo, std::string sentence) {
    apart(report_.newer, "newer", repo, "newer at the host",
          std::move(sentence));
  }

  /// Adds something that was still to be done here.
  void unfinished(const atproto::did& repo, const char* what,
                  std::string sentence) {
    apart(report_.unfinished, "unfinished", repo, what, std::move(sentence));
  }

  host_check_report take() { return std::move(report_); }

private:
  void apart(std::vector<storage::verify_finding>& list, const char* label,
             const atproto::did& repo, const char* what, std::string sentence) {
    if (list.size() < options_.findings_max)
      list.push_back({label, repo.str(), sentence});
    note(repo, what, std::move(sentence));
  }

  const host_check_options& options_;
  host_check_report report_;
};

} // namespace weir::apps
