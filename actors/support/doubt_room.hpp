#pragma once

#include "atproto/identifiers.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace weir::actors {

/// Bytes taken by frames that wait for a document.
struct doubt_bytes {
  uint64_t memory = 0;
  uint64_t disk = 0;

  bool operator==(const doubt_bytes&) const = default;
};

/// Who can delay the document of `repo`: the host of a did:web, or for other
/// DIDs, the stream that brought the frames.
std::string doubt_source(const atproto::did& repo, uint32_t upstream);

/// The bytes that a node keeps of frames that wait for a document. A server
/// that does not answer decides how long they wait, so the frames of one source
/// may take only a part of the room. A frame without room is dropped, and its
/// repo is fetched. Any thread.
class doubt_room {
public:
  /// Call it before the first claim. Without it there is no limit.
  void set_most(const doubt_bytes& most) noexcept { most_ = most; }

  /// Changes the bytes of one repo. A decrease always succeeds.
  /// @returns false when there is no room for an increase; nothing has changed
  /// then.
  bool change(const std::string& source, const doubt_bytes& was,
              const doubt_bytes& now);

  doubt_bytes held() const;

private:
  doubt_bytes most_{UINT64_MAX, UINT64_MAX};
  mutable std::mutex mutex_;
  doubt_bytes all_;
  /// Only sources that take something, so at most one for each repo that waits.
  std::unordered_map<std::string, doubt_bytes> sources_;
};

/// The bytes of one repo in the room; released when the claim ends.
class doubt_claim {
public:
  explicit doubt_claim(std::shared_ptr<doubt_room> room) noexcept
    : room_(std::move(room)) {}

  ~doubt_claim() { clear(); }

  doubt_claim(const doubt_claim&) = delete;
  doubt_claim& operator=(const doubt_claim&) = delete;

  /// @returns false when there is no room.
  bool set(std::string source, const doubt_bytes& now);

  void clear() noexcept;

private:
  std::shared_ptr<doubt_room> room_;
  std::string source_;
  doubt_bytes held_;
};

} // namespace weir::actors
