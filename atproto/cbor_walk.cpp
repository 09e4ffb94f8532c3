#include "atproto/cbor_walk.hpp"

namespace weir::atproto::cbor {

fault check_unique_keys(bytes_view map) noexcept {
  std::array<std::string_view, limits::cbor_unsorted_entries_max> keys;
  null_visitor nothing;
  constexpr walk_rules unchecked{limits::cbor_depth_hard_max,
                                 key_order::unchecked, true};
  const auto* at = map.data();
  const auto* end = at + map.size();
  item_head head;
  if (auto what = take_head(at, end, head); what != fault::none)
    return what;
  if (head.value > keys.size())
    return fault::unsorted_limit;
  const auto last = keys.begin() + static_cast<std::ptrdiff_t>(head.value);
  for (auto key = keys.begin(); key != last; ++key) {
    if (auto what = take_key_text(at, end, *key); what != fault::none)
      return what;
    walker<null_visitor> value{{at, end}, unchecked, nothing};
    if (auto what = value.run(); what != fault::none)
      return what;
    at += value.position();
  }
  std::sort(keys.begin(), last);
  return std::adjacent_find(keys.begin(), last) == last ? fault::none
                                                        : fault::key_repeated;
}

} // namespace weir::atproto::cbor
