#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::apps {

/// What a consumer knows of one account only from events.
struct copied_account {
  std::string handle;
  std::string status; ///< Empty before the first identity event.
  bool active = false;
  std::unordered_map<std::string, std::string> records; ///< Path to CID.
  uint64_t last_record = 0;                             ///< Highest ids seen.
  uint64_t last_fact = 0;
  /// Facts about an inactive account are sent before its records, which wait
  /// until it is active again. Records with ids up to this one may come later.
  uint64_t overtaken = 0;

  /// Whether `id` comes in the order of the log.
  bool in_order(uint64_t id, bool is_record) const noexcept {
    if (!is_record)
      return id > last_fact && id > last_record;
    return id > last_record && (id > last_fact || id < overtaken);
  }
};

/// What an id meant when it first came.
struct delivered_event {
  uint64_t place = 0;   ///< Hash of account, kind, path.
  uint64_t content = 0; ///< Hash of everything.
};

/// The `place` of a record event, or with an empty path of an identity event.
uint64_t event_place(std::string_view did, std::string_view path);

/// The `content` of a record event. @param cid Empty for a deletion.
uint64_t record_content(std::string_view did, std::string_view rev,
                        std::string_view path, std::string_view action,
                        std::string_view cid);

/// The copy that an application makes from the events of Tap's wire. It also
/// checks what the wire promises: ids grow within one account, and an id that
/// comes again has the same content.
///
/// # Threads
/// One thread at a time.
///
/// # Limits
/// It remembers every id for ever, so it is only for demonstrations and tests.
class event_copy {
public:
  struct counters {
    uint64_t received = 0;
    uint64_t records = 0; ///< First deliveries.
    uint64_t redelivered = 0;
    uint64_t conflicts = 0;    ///< Ids that came with two contents.
    uint64_t out_of_order = 0; ///< New ids that are less than an older one.
    uint64_t unreadable = 0;
  };

  /// The result of one message.
  struct taken {
    uint64_t id = 0;
    bool again = false;
    bool is_record = false;
    bool live = false; ///< A record written after the node began to follow.
    std::string did;
  };

  /// Takes one message. Returns nothing when it is no event.
  std::optional<taken> take(std::string_view text, wall_time now);

  /// Drops the records of a repo. Call it when the repo is removed from the
  /// node: after it is added again its records come anew, and records deleted
  /// meanwhile are not announced.
  void forget_records(std::string_view did) {
    if (const auto x = accounts_.find(did); x != accounts_.end())
      x->second.records.clear();
  }

  const counters& counts() const noexcept { return counts_; }

  const std::map<std::string, copied_account, std::less<>>&
  accounts() const noexcept {
    return accounts_;
  }

  const std::unordered_map<uint64_t, delivered_event>& ids() const noexcept {
    return ids_;
  }

  /// Delays from the writing of a live record to its arrival here, for the
  /// latest live events; sorted.
  std::vector<std::chrono::microseconds> latencies() const;

private:
  struct event;

  void apply(const event& x);
  void note_latency(std::string_view rev, wall_time now);

  counters counts_;
  std::map<std::string, copied_account, std::less<>> accounts_;
  std::unordered_map<uint64_t, delivered_event> ids_;
  std::vector<uint32_t> latencies_; ///< A ring buffer.
  size_t next_latency_ = 0;
};

} // namespace weir::apps
