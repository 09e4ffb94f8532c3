#pragma once

#include "base/error.hpp"
#include "messages/caf_types.hpp"

#include <caf/typed_response_promise.hpp>

#include <utility>

namespace weir::actors {

/// A promised answer. If it is never given, the asker receives an error that
/// the actor ended, so that nobody waits for ever.
template <class Reply>
class owed_answer {
public:
  explicit owed_answer(caf::typed_response_promise<Reply> to)
    : to_(std::move(to)) {}

  ~owed_answer() {
    if (to_.pending())
      fail(weir::fail(ec::cancelled, "the actor that was asked ended"));
  }

  void give(const Reply& x) { to_.deliver(x); }

  void fail(const error& why) { to_.deliver(to_caf(why)); }

  /// Another actor answers: the request is passed to it.
  template <class Handle, class Request>
  void pass_on(const Handle& to, const Request& x) {
    to_.delegate(to, x);
  }

private:
  caf::typed_response_promise<Reply> to_;
};

} // namespace weir::actors
