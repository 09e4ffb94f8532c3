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
  one_of, ///< Exactly one of the members with this mark.
};

/// The words that docs/api.md uses: "required", "optional", "one of these".
std::string_view to_string(member_need x) noexcept;

/// One member of the JSON body of a route.
struct body_member {
  std::string_view name;
  member_need need = member_need::optional;
};

/// All members that request bodies may have. Routes refer to these tables,
/// readers of bodies accept no other names, and docs/api.md has a row for each.
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

inline constexpr std::array backup_members{
  body_member{"directory", member_need::required},
};

/// The error for a name that no member has. It suggests the member that was
/// probably meant, or lists all of them.
std::string unknown_member(std::string_view name,
                           std::span<const body_member> known);

} // namespace weir::wire
