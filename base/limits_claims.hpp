#pragma once

#include <cstddef>

/// What only a listing claims (actors/supervisor/claims_machine.hpp).
namespace weir::limits {

/// Claims whose documents are asked for at once, of all listings together: the
/// turns of those that wait decide who is next, not who came a moment sooner.
constexpr size_t claims_asked_max = 16;
/// Of those, of one listing: some of them may hang at hosts of did:web names.
constexpr size_t claims_asked_share = 12;
/// Claims beyond `claims_of_page_max` of their pages, of all listings together.
constexpr size_t claims_spare_max = 65'536;

/// So many-th turn goes to the next listing, the others to the one of which the
/// fewest were asked about: small hosts are done soon, and large ones go on.
constexpr size_t claims_even_turn = 4;

} // namespace weir::limits
