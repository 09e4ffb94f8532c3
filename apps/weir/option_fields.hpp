#pragma once

#include "apps/weir/option_table.hpp"
#include "base/option_range.hpp"

#include <chrono>

/// Makes options out of members of `settings`.
namespace weir::apps {

/// Names and texts of an option.
struct option_text {
  std::string_view group;
  std::string_view name;
  std::string_view meaning;
  std::string_view form = {};
  std::string_view example = {};
};

option make_option(value_kind kind, const option_text& x);

option text_option(std::string settings::*member, const option_text& x);

option flag_option(bool settings::*member, const option_text& x);

option list_option(std::vector<std::string> settings::*member,
                   const option_text& x);

option real_option(double settings::*member,
                   const limits::option_range<double>& range,
                   const option_text& x);

/// @param kind `number` or `size`.
option count_option(value_kind kind, uint64_t settings::*member,
                    const limits::option_range<uint64_t>& range,
                    const option_text& x);

option duration_option(std::chrono::seconds settings::*member,
                       const limits::option_range<std::chrono::seconds>& range,
                       const option_text& x);

/// @param words The name of every enumerator, in their order.
template <class Enum, class Owner>
option choice_option(Enum Owner::*member,
                     std::span<const std::string_view> words,
                     const option_text& x) {
  auto out = make_option(value_kind::choice, x);
  out.words = words;
  out.get = [member, words](const settings& from) -> option_value {
    return std::string{words[static_cast<size_t>(from.*member)]};
  };
  out.set
    = [member, words](settings& to, const option_value& value) -> result<void> {
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] == std::get<std::string>(value)) {
        to.*member = static_cast<Enum>(i);
        return {};
      }
    return fail(ec::invalid_argument);
  };
  return out;
}

/// An option for a list of `relay:URL` and `pds:URL`.
option upstream_option(const option_text& x);

} // namespace weir::apps
