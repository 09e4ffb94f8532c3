#pragma once

#include "apps/weir/option_table.hpp"

#include <algorithm>

namespace weir::apps {

/// Makes options out of members of `settings`, under one heading. The type of
/// the member decides the kind of the option.
class option_group {
public:
  option_group(std::vector<option>& out, std::string_view heading)
    : out_(out), heading_(heading) {}

  /// @param form The form of the text, or of one element of the list.
  void add(std::string_view name, std::string settings::*member,
           std::string_view meaning, std::string_view form,
           std::string_view example = {});
  void add(std::string_view name, std::vector<std::string> settings::*member,
           std::string_view meaning, std::string_view form,
           std::string_view example);

  void add(std::string_view name, bool settings::*member,
           std::string_view meaning);
  void add(std::string_view name, double settings::*member,
           const limits::option_range<double>& range, std::string_view meaning);

  /// @param kind `number` or `size`.
  void add(std::string_view name, uint64_t settings::*member,
           const limits::option_range<uint64_t>& range,
           std::string_view meaning, value_kind kind = value_kind::number);

  void add(std::string_view name, std::chrono::seconds settings::*member,
           const limits::option_seconds& range, std::string_view meaning);

  /// @param words The name of every enumerator, in their order.
  template <class Enum, class Owner>
  void add(std::string_view name, Enum Owner::*member,
           std::span<const std::string_view> words, std::string_view meaning) {
    auto& out = begin(value_kind::choice, name, meaning);
    out.words = words;
    out.get = [member, words](const settings& from) -> option_value {
      return std::string{words[static_cast<size_t>(from.*member)]};
    };
    out.set = [member, words](settings& to,
                              const option_value& value) -> result<void> {
      const auto at = std::ranges::find(words, std::get<std::string>(value));
      if (at == words.end())
        return fail(ec::invalid_argument);
      to.*member = static_cast<Enum>(at - words.begin());
      return {};
    };
  }

  /// A list of `relay:URL` and `pds:URL`.
  void add_upstreams(std::string_view name, std::string_view meaning);

private:
  option& begin(value_kind kind, std::string_view name,
                std::string_view meaning);

  std::vector<option>& out_;
  std::string_view heading_;
};

} // namespace weir::apps
