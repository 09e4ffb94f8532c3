#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir::wire {

/// Whether a body must have a member.
enum class member_need : uint8_t {
  required,
  optional,
  one_of, ///< Exactly one of those with this word.
};

/// "required", "optional", "one of these"; docs/api.md says it in these words.
std::string_view to_string(member_need x) noexcept;

/// One member of the JSON body of a route.
struct body_member {
  std::string_view name;
  member_need need = member_need::optional;
};

/// The table of all members that bodies have: the routes point to it, those who
/// read bodies know no other names, and docs/api.md has a row for each.
inline constexpr std::array add_members{
  body_member{"dids", member_need::required},
  body_member{"collections", member_need::optional},
};

inline constexpr std::array did_members{
  body_member{"dids", member_need::required},
};

inline constexpr std::array letter_members{
  body_member{"ids", member_need::one_of},
  body_member{"did", member_need::one_of},
  body_member{"all", member_need::one_of},
  body_member{"cursor", member_need::optional},
};

/// Says that no member has this name, with the one that was meant or all that
/// there are.
std::string unknown_member(std::string_view name,
                           std::span<const body_member> known);

} // namespace weir::wire
