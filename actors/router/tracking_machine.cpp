#include "actors/router/tracking_machine.hpp"

#include "atproto/frame.hpp"

#include <algorithm>

namespace weir::actors {

bool tracking_machine::discovers(const atproto::stamped_frame& x) const {
  if (mode_ == tracking_mode::manual || !atproto::supported_did(x.repo.str()))
    return false;
  return mode_ == tracking_mode::full_network || signals(x);
}

bool tracking_machine::may_return(const atproto::stamped_frame& x) const {
  if (mode_ != tracking_mode::signal || x.kind != atproto::frame_kind::account
      || !atproto::supported_did(x.repo.str()))
    return false;
  const auto event = atproto::decode_frame(x.bytes.view());
  return event && std::get<atproto::account_event>(*event).active;
}

/// Whether the frame creates or updates a record in a signal collection, which
/// discovers the repo (SYNC-18, 3b.2, 3b.16). This is checked before any
/// filter.
bool tracking_machine::signals(const atproto::stamped_frame& x) const {
  if (x.kind != atproto::frame_kind::commit)
    return false;
  const auto event = atproto::decode_frame(x.bytes.view());
  if (!event)
    return false;
  const auto& ops = std::get<atproto::commit_event>(*event).ops;
  return std::any_of(ops.begin(), ops.end(), [this](const auto& op) {
    return op.action != atproto::op_action::remove
           && atproto::valid_repo_path(op.path)
           && signal_.matches(atproto::split_path(op.path).collection);
  });
}

} // namespace weir::actors
