#include "apps/weir/demo_complete.hpp"

namespace weir::apps {

namespace {

std::string judge(const simnet::account_view& x, const listed_repo* known) {
  if (known == nullptr)
    return "is not known";
  const auto is_equal
    = known->rev == x.rev.str() && known->records == x.records;
  if (!known->complete)
    return "is not complete: " + known->reason;
  return is_equal ? std::string{} : "is called complete and differs";
}

} // namespace

std::vector<std::string>
not_whole(simnet::world& truth,
          const std::map<std::string, listed_repo>& repos) {
  std::vector<std::string> out;
  for (size_t i = 0; i < truth.accounts(); ++i) {
    const auto x = truth.view(i);
    if (x.status != simnet::standing::active || x.relay_takedown)
      continue;
    const auto known = repos.find(x.id.str());
    const auto wrong
      = judge(x, known == repos.end() ? nullptr : &known->second);
    if (!wrong.empty())
      out.push_back(x.id.str() + " " + wrong);
  }
  return out;
}

} // namespace weir::apps
