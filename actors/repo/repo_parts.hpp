#pragma once

#include "actors/repo/repo_types.hpp"

#include <optional>
#include <string>
#include <vector>

/// What a repo_machine keeps between events: plain values.
namespace weir::actors {

struct waiting_frame {
  atproto::stamped_frame frame;
  steady_time since;
  bool buffered = false; ///< Its mark was given back already.
  bool doubted = false;  ///< The identity was refreshed for its sake.
  uint64_t number = 0;   ///< Set when buffered: the order of arrival.
  /// Since then it waits for a clock that its rev is not beyond.
  std::optional<steady_time> ahead{};
};

/// Whether the next frame may be looked at.
enum class frame_step : uint8_t { taken, wait };

/// What the known document says of a frame that it refuses: that stands,
/// another one is awaited, or is needed and does not come in time.
enum class document_judgement : uint8_t { stands, awaited, needed };

/// A PDS pays for a frame that says what it cannot say. A relay does not answer
/// for those that it passes on.
inline void charge(const waiting_frame& x, repo_effects& out) {
  if (!x.frame.relay)
    out.refused.push_back(x.frame.at);
}

/// It came on the stream of a PDS, and the account's document names another one
/// or none.
inline void note_other_host(const waiting_frame& x, const std::string& pds,
                            repo_effects& out) {
  if (x.frame.kind == atproto::frame_kind::commit)
    out.news.refused.push_back({x.frame.at.upstream, {}, true, pds});
}

/// Commits that came during a fetch, or wait for a document: the youngest here,
/// the rest on disk.
struct sync_buffer {
  lazy_deque<waiting_frame> frames;
  size_t bytes = 0;
  uint64_t disk_bytes = 0;
  bool read_pending = false;
  bool read_stale = false; ///< The page is of a job that ended.
  uint64_t after = 0;      ///< Where the next page begins.
  uint64_t last = 0;       ///< Number of the youngest so far.
  /// The document is there that they waited for: they are judged for good.
  bool judging = false;
};

struct tip_state {
  atproto::tid rev;
  atproto::cid data;
};

struct fetch_job {
  uint64_t id = 0;
  position noted;
  bool durable = false;  ///< The row says `syncing` on disk.
  bool draining = false; ///< Fetched; buffered frames are being applied.
  uint32_t filter_generation = 0; ///< Of the filter that was ordered.
  std::optional<atproto::verified_root> root;
  lazy_deque<fetch_chunk> chunks;
};

/// What cannot be had again when the update in flight is refused.
struct sent_update {
  std::vector<position> marks;
  std::optional<storage::repo_status> written_status; ///< Before it.
  std::optional<storage::member_row> member;
  bool erase = false;
  bool buffer_clear = false;
  bool commits = false;
  bool account_fact = false;
  bool identity_fact = false;
};

/// A host's word on an account, until a document names that host anew.
struct host_word {
  storage::account_status account = storage::account_status::active;
  std::string pds;
  uint64_t asked_so_far = 0; ///< Questions for the identity before it.
  bool asked = false; ///< For the account, as often as it takes; else it only
                      ///< refused a fetch.
};

/// A listing showed what no event did, so far.
struct suspicion {
  listed_repo seen;
  wall_time since;
  steady_time due;
  steady_time last; ///< Decided then, however far the stream is behind.
};

} // namespace weir::actors
