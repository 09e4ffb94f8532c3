#pragma once

#include "actors/support/intake_board.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/site.hpp"
#include "atproto/identifiers.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Bytes taken by frames that wait for a document.
struct waiting_bytes {
  uint64_t memory = 0;
  uint64_t disk = 0;

  bool operator==(const waiting_bytes&) const = default;
};

/// Who can delay the document of `repo`: the host of a did:web, or for other
/// DIDs, the stream that brought the frames.
inline std::string waiting_source(const atproto::did& repo, uint32_t upstream) {
  auto out = identity_source(repo);
  return out == directory_source ? "stream " + std::to_string(upstream) : out;
}

/// The bytes that a node keeps of frames that wait for a document. A server
/// that does not answer decides how long they wait, so the frames of one source
/// may take only a part of the room. A frame without room is dropped, and its
/// repo is fetched. Any thread.
class waiting_room {
public:
  /// Call it before the first claim. Without it there is no limit.
  void set_most(const waiting_bytes& most) noexcept { most_ = most; }

  /// Changes the bytes of one repo. A decrease always succeeds.
  /// @returns false when there is no room for an increase; nothing has changed
  /// then.
  bool change(const std::string& source, const waiting_bytes& was,
              const waiting_bytes& now) {
    const std::lock_guard guard{mutex_};
    auto& own = sources_[source];
    constexpr auto part = limits::document_wait_source_part;
    const auto fits
      = !grows_beyond(all_.memory, was.memory, now.memory, most_.memory)
        && !grows_beyond(all_.disk, was.disk, now.disk, most_.disk)
        && !grows_beyond(own.memory, was.memory, now.memory,
                         most_.memory / part)
        && !grows_beyond(own.disk, was.disk, now.disk, most_.disk / part);
    if (fits)
      for (auto* x : {&all_, &own}) {
        x->memory += now.memory - was.memory;
        x->disk += now.disk - was.disk;
      }
    if (own == waiting_bytes{})
      sources_.erase(source);
    return fits;
  }

  waiting_bytes held() const {
    const std::lock_guard guard{mutex_};
    return all_;
  }

private:
  static bool grows_beyond(uint64_t all, uint64_t was, uint64_t now,
                           uint64_t most) noexcept {
    return now > was && all - was + now > most;
  }

  waiting_bytes most_{UINT64_MAX, UINT64_MAX};
  mutable std::mutex mutex_;
  waiting_bytes all_;
  /// Only sources that take something: at most one for each waiting repo.
  std::unordered_map<std::string, waiting_bytes> sources_;
};

/// The bytes of one repo in the room; released when the claim ends.
class room_claim {
public:
  explicit room_claim(std::shared_ptr<waiting_room> room) noexcept
    : room_(std::move(room)) {}

  ~room_claim() { clear(); }

  room_claim(const room_claim&) = delete;
  room_claim& operator=(const room_claim&) = delete;

  /// Claims room for what the repo keeps. A node that runs short of memory or
  /// disk drops these frames first, because a fetch brings them.
  /// @param upstream The stream that brought the first of them.
  /// @returns false when the frames must be dropped.
  bool keep(const waiting_bytes& now, const atproto::did& repo,
            uint32_t upstream, const intake_board& intake) {
    if (now == waiting_bytes{}) {
      clear();
      return true;
    }
    for (const auto what : {shortage::memory, shortage::disk})
      if (intake.level(what) != intake_level::open)
        return false;
    return set(waiting_source(repo, upstream), now);
  }

  /// @returns false when there is no room.
  bool set(std::string source, const waiting_bytes& now) {
    if (now == held_)
      return true;
    if (held_ == waiting_bytes{})
      source_ = std::move(source);
    if (!room_->change(source_, held_, now))
      return false;
    held_ = now;
    return true;
  }

  void clear() noexcept {
    if (held_ != waiting_bytes{})
      room_->change(source_, std::exchange(held_, {}), {});
  }

private:
  std::shared_ptr<waiting_room> room_;
  std::string source_;
  waiting_bytes held_;
};

} // namespace weir::actors
