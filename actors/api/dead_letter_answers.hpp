#pragma once

#include "actors/api/page_request.hpp"
#include "actors/support/context.hpp"
#include "messages/consumer.hpp"

#include <map>
#include <string>
#include <vector>

namespace weir::actors {

/// One page of the dead letters of this consumer, by id, with the subject of
/// each. Reads the log once for each letter.
net::http_reply dead_letters_reply(const context& shared,
                                   const std::string& consumer,
                                   const page_request& page);

/// The orders in a body of `/v1/dead-letters/retry` or `/drop`, by partition.
/// @param body A `text_body`.
/// @param foreign Gets the ids of no partition.
result<std::map<uint16_t, letters_order>>
letters_orders_of(const net::body_sink& body, bool retry, const context& shared,
                  std::vector<uint64_t>& foreign);

/// The result of such orders, in ids of events. Part of the API actor, one
/// thread.
class letters_answer {
public:
  /// @param foreign Ids of no partition.
  letters_answer(bool retry, std::vector<uint64_t> foreign)
    : retry_(retry), unknown_(std::move(foreign)) {}

  void add(const letters_report& x, const wire::event_numbers& numbers);

  net::http_reply reply() const;

private:
  bool retry_;
  uint64_t done_ = 0;
  std::vector<uint64_t> outdated_;
  std::vector<uint64_t> unknown_;
  std::vector<uint64_t> left_;
  uint64_t next_ = UINT64_MAX;
};

} // namespace weir::actors
