#include "actors/support/state_words.hpp"

namespace weir::actors {

std::string_view account_word(storage::account_status x) noexcept {
  return x == storage::account_status::inactive ? "inactive"
                                                : storage::to_string(x);
}

} // namespace weir::actors
