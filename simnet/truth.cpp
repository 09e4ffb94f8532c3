#include "simnet/truth.hpp"

#include <algorithm>

namespace weir::simnet {

const char* status_word(standing x) noexcept {
  return x == standing::active || x == standing::tombstoned ? nullptr
                                                            : to_string(x);
}

const char* to_string(standing x) noexcept {
  static constexpr const char* names[]{
    "active", "deactivated", "suspended", "takendown", "deleted", "tombstoned"};
  return names[static_cast<size_t>(x)];
}

std::optional<account_view> seen_from(const account_view& x, size_t host) {
  auto out = x;
  if (x.host == host) {
    if (x.status == standing::deleted)
      return std::nullopt;
    return out;
  }
  const auto at = std::ranges::find(x.former, host, &former_home::host);
  if (at == x.former.end())
    return std::nullopt;
  out.status = standing::deactivated;
  out.rev = at->rev;
  out.listed_rev = at->rev;
  out.head = at->head;
  return out;
}

std::optional<account_view> seen_from_relay(const account_view& x) {
  auto out = seen_from(x, x.host);
  if (out && x.relay_takedown)
    out->status = standing::takendown;
  return out;
}

truth::truth(size_t hosts, bool relay, window_options window) {
  for (size_t i = 0; i < hosts; ++i)
    host_logs_.push_back(std::make_unique<event_log>(window));
  if (relay)
    relay_log_ = std::make_unique<event_log>(window);
}

expected_account truth::expected(size_t index) const {
  expected_account out;
  do {
    out.account = view(index);
    out.records.clear();
    visit_records(index, {}, [&out](const std::string& path, const record& x) {
      out.records.push_back({path, x.id});
      return true;
    });
  } while (view(index).head != out.account.head);
  return out;
}

std::vector<expected_account> truth::expected() const {
  std::vector<expected_account> out;
  const auto n = accounts();
  out.reserve(n);
  for (size_t i = 0; i < n; ++i)
    out.push_back(expected(i));
  return out;
}

} // namespace weir::simnet
