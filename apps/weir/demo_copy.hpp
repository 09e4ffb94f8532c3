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

/// What a consumer knows of one account from the events alone.
struct copied_account {
  std::string handle;
  std::string status; ///< Empty before the first identity event.
  bool active = false;
  std::unordered_map<std::string, std::string> records; ///< Path to CID.
  uint64_t last_record = 0;                             ///< Ids seen.
  uint64_t last_fact = 0;
  uint64_t records_came = 0; ///< For the first time, or again.
  /// Facts about an account that is away overtake its records, which wait
  /// until it is back: records up to here may come later.
  uint64_t overtaken = 0;

  /// Whether `id` comes in the order of the log.
  bool in_order(uint64_t id, bool is_record) const noexcept {
    if (!is_record)
      return id > last_fact && id > last_record;
    return id > last_record && (id > last_fact || id < overtaken);
  }
};

/// What one id meant when it came first.
struct delivered_event {
  uint64_t place = 0;   ///< Hash of account, kind, path.
  uint64_t content = 0; ///< Hash of everything.
};

/// `place` of a record event, and of an identity event with an empty path.
uint64_t event_place(std::string_view did, std::string_view path);

/// `content` of a record event. @param cid Empty for a deletion.
uint64_t record_content(std::string_view did, std::string_view rev,
                        std::string_view path, std::string_view action,
                        std::string_view cid);

/// The copy an application makes from the events of Tap's wire, and a check of
/// what the wire promises: within one account ids grow, and an id that comes
/// again means what it meant before.
///
/// # Threads
/// One at a time.
///
/// # Limits
/// Remembers every id for ever; for demonstrations and tests.
class event_copy {
public:
  struct counters {
    uint64_t received = 0;
    uint64_t records = 0; ///< First deliveries; `live` are part of them.
    uint64_t live = 0;
    uint64_t identities = 0; ///< First deliveries.
    uint64_t redelivered = 0;
    uint64_t conflicts = 0;    ///< An id with two contents.
    uint64_t out_of_order = 0; ///< A new id below an older one.
    uint64_t unreadable = 0;
    /// Records that came, or came again, after a fact said that their account
    /// is away and before one said that it is back.
    uint64_t while_away = 0;
  };

  /// What came.
  struct taken {
    uint64_t id = 0;
    bool again = false;
    bool live = false; ///< A record, written since the node follows the repo.
    std::string did;
  };

  /// Takes one message. Nothing when it is no event.
  std::optional<taken> take(std::string_view text, wall_time now);

  /// Whoever has a repo removed from the node drops what came of it: when it is
  /// added again it comes anew, and of what went meanwhile nobody tells.
  void forget_records(std::string_view did);

  const counters& counts() const noexcept { return counts_; }

  const std::map<std::string, copied_account, std::less<>>&
  accounts() const noexcept {
    return accounts_;
  }

  const std::unordered_map<uint64_t, delivered_event>& ids() const noexcept {
    return ids_;
  }

  /// From the writing of a live record to its arrival here, of the latest
  /// live events; sorted.
  std::vector<std::chrono::microseconds> latencies() const;

private:
  struct event;

  void apply(const event& x);
  void note_latency(std::string_view rev, wall_time now);

  counters counts_;
  std::map<std::string, copied_account, std::less<>> accounts_;
  std::unordered_map<uint64_t, delivered_event> ids_;
  std::vector<uint32_t> latencies_; ///< A ring.
  size_t next_latency_ = 0;
};

} // namespace weir::apps
