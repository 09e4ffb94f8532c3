#pragma once

#include "actors/support/upstream_view.hpp"
#include "actors/upstream/upstream_machine.hpp"

namespace weir::actors {

/// What others can know of a stream now. It shows a stamp once it is durable.
/// @param reads No shortage of this node keeps streams from being read.
inline upstream_view view_of(const upstream_machine& x, bool reads,
                             steady_time now, wall_time wall) {
  constexpr auto unread
    = "its socket is not read although nothing prevents it, again and again";
  const auto& row = x.row();
  upstream_view out;
  out.id = row.id;
  out.origin = row.url;
  out.relay = row.relay;
  out.epoch = row.epoch;
  out.first_cursor = x.stamp_durable() ? row.first_cursor : 0;
  out.whole = x.whole();
  out.connected = x.connected();
  out.opened = x.opened();
  out.opened_at = x.rest().opened_at();
  out.read = reads;
  out.live = x.live();
  out.received = x.last_received();
  out.cursor = row.cursor;
  out.passed = x.passed();
  out.sent_until = wall_time{row.passed_us};
  out.quiet_since = x.quiet_since();
  out.quiet_min = x.arrivals().quiet_min(now, wall);
  out.gives_way = x.gives_way();
  out.caught_up = x.rest().caught_up() && out.connected;
  out.rested_at = x.rest().rested_at();
  out.unreadable = x.is_unreadable(now);
  out.stalls = out.unreadable || x.keeps_stalling(now);
  out.last_error = out.unreadable ? "its frames cannot be read"
                   : out.stalls   ? unread
                                  : x.last_error();
  return out;
}

} // namespace weir::actors
