#include "actors/support/upstream_view.hpp"

#include <algorithm>

namespace weir::actors {

void upstream_board::put(const upstream_view& x) {
  const std::lock_guard guard{mutex_};
  const auto i = std::find_if(views_.begin(), views_.end(),
                              [&](const auto& y) { return y.id == x.id; });
  if (i == views_.end())
    views_.push_back(x);
  else
    *i = x;
}

std::vector<upstream_view> upstream_board::all() const {
  const std::lock_guard guard{mutex_};
  return views_;
}

upstream_view upstream_board::accounting_for(const std::string& pds) const {
  const std::lock_guard guard{mutex_};
  const upstream_view* relay = nullptr;
  for (const auto& x : views_) {
    if (!x.relay && x.origin == pds)
      return x;
    if (x.relay && relay == nullptr)
      relay = &x;
  }
  return relay == nullptr ? upstream_view{} : *relay;
}

bool upstream_board::speaks_for(const std::string& pds, uint32_t upstream,
                                const std::set<uint32_t>* heard) const {
  const std::lock_guard guard{mutex_};
  auto speaks = false;
  for (const auto& x : views_) {
    if (!x.relay && x.origin == pds
        && (x.id == upstream
            || (x.connected
                && (heard == nullptr || heard->count(x.id) > 0))))
      return x.id == upstream;
    speaks |= x.relay && x.id == upstream;
  }
  return speaks;
}

upstream_view upstream_board::find(uint32_t id) const {
  const std::lock_guard guard{mutex_};
  for (const auto& x : views_)
    if (x.id == id)
      return x;
  return {};
}

void upstream_board::set_audited(uint32_t id, int64_t at) {
  const std::lock_guard guard{mutex_};
  audited_[id] = at;
}

int64_t upstream_board::audited(uint32_t id) const {
  const std::lock_guard guard{mutex_};
  const auto i = audited_.find(id);
  return i == audited_.end() ? 0 : i->second;
}

bool upstream_board::gives_way(const position& at) const {
  const std::lock_guard guard{mutex_};
  return std::any_of(views_.begin(), views_.end(), [&](const auto& x) {
    return x.id == at.upstream && x.gives_way != 0
           && (at.epoch != x.epoch || at.seq <= x.gives_way);
  });
}

} // namespace weir::actors
