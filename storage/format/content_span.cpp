#include "storage/format/content_span.hpp"

#include <algorithm>

namespace weir::storage {

void add_span(std::vector<content_span>& to, content_span x, size_t max) {
  // Spans that overlap or touch `x` are joined with it.
  auto begin = std::ranges::find_if(to, [&x](const content_span& old) {
    return old.last + 1 >= x.first;
  });
  auto end = begin;
  for (; end != to.end() && end->first <= x.last + 1; ++end) {
    x.first = std::min(x.first, end->first);
    x.last = std::max(x.last, end->last);
  }
  to.insert(to.erase(begin, end), x);
  if (to.size() <= max || to.size() < 2)
    return;
  auto closest = to.begin();
  for (auto i = to.begin(); std::next(i) != to.end(); ++i)
    if (std::next(i)->first - i->last
        < std::next(closest)->first - closest->last)
      closest = i;
  closest->last = std::next(closest)->last;
  to.erase(std::next(closest));
}

bool are_apart(const std::vector<content_span>& all) noexcept {
  op_id last = 0;
  for (const auto& x : all) {
    if (x.first <= last || x.last < x.first)
      return false;
    last = x.last;
  }
  return true;
}

} // namespace weir::storage
