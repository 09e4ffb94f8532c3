#include "apps/demo/complete.hpp"

namespace weir::apps {

completeness_findings
judge_completeness(simnet::world& truth,
                   const std::map<std::string, listed_repo>& repos) {
  completeness_findings out;
  for (size_t i = 0; i < truth.accounts(); ++i) {
    const auto x = truth.view(i);
    if (x.status != simnet::standing::active || x.relay_takedown)
      continue;
    const auto found = repos.find(x.id.str());
    if (found == repos.end()) {
      out.missing.push_back(x.id.str() + " is not known");
      continue;
    }
    const auto& known = found->second;
    if (!known.complete)
      out.missing.push_back(x.id.str() + " is not complete: " + known.reason);
    else if (known.rev != x.rev.str() || known.records != x.records)
      out.wrong.push_back(x.id.str() + " is called complete and differs");
  }
  return out;
}

} // namespace weir::apps
