#pragma once

#include "actors/support/context.hpp"
#include "actors/support/health_machine.hpp"
#include "messages/identity.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Reports outcomes of the directory and of the handle resolver to the node's
/// health board and clock board (architecture.md, Health).
///
/// # Threads
/// A part of IDENTITY.
class identity_health {
public:
  explicit identity_health(context_ptr shared) : shared_(std::move(shared)) {}

  /// These documents are requested, and, if `handles`, owners of handles.
  void note_asked(const std::vector<atproto::did>& documents, bool handles,
                  steady_time now);

  /// A long rest is a finding of its own: nothing is asked, so nothing fails.
  /// @param until None: the directory never limited us.
  void note_rest(std::optional<steady_time> until, steady_time now);

  void on_document(const identity_document& x, steady_time now, wall_time wall);

  void on_handle(const identity_handle& x, steady_time now);

  void end() { shared_ = nullptr; }

private:
  void note_unknown(const atproto::did& repo, look_up_fault fault,
                    std::string text, steady_time now);

  context_ptr shared_;
  std::optional<steady_time> rest_told_;
};

} // namespace weir::actors
