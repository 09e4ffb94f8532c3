#pragma once

#include "base/error.hpp"

#include <caf/make_message.hpp>

#include <caf/atom.hpp>
#include <caf/error.hpp>

namespace weir {

/// Converts our error to CAF's: category "weir", code, context. Failures become
/// CAF errors only here.
inline caf::error to_caf(const error& x) {
  return {static_cast<uint8_t>(x.code), caf::atom("weir"),
          caf::make_message(x.context)};
}

/// Converts back. Errors of other categories become `ec::cancelled`.
inline error from_caf(const caf::error& x) {
  if (x.category() != caf::atom("weir"))
    return fail(ec::cancelled, "an actor ended");
  std::string context;
  if (x.context().match_elements<std::string>())
    context = x.context().get_as<std::string>(0);
  return {static_cast<ec>(x.code()), std::move(context)};
}

} // namespace weir
