#pragma once

#include "atproto/identifiers.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace weir::actors {

/// What frames take that wait for a document.
struct doubt_bytes {
  uint64_t memory = 0;
  uint64_t disk = 0;

  bool operator==(const doubt_bytes&) const = default;
};

/// Whoever can make a document of `repo` late, as far as its frames tell: the
/// host of a did:web, or of other DIDs the stream by which the frames came.
std::string doubt_source(const atproto::did& repo, uint32_t upstream);

/// How much a node keeps of frames that wait for a document, in bytes. Whoever
/// does not answer for a document decides how long they wait, so the frames of
/// one source have a part of the room only. What finds none is dropped, and its
/// repo fetched. Any thread.
class doubt_room {
public:
  /// Before the first claim. Without this there is no bound.
  void set_most(const doubt_bytes& most) noexcept { most_ = most; }

  /// What one repo has of it changes. Less is always taken.
  /// @returns false when there is no room for more; nothing has changed then.
  bool change(const std::string& source, const doubt_bytes& was,
              const doubt_bytes& now);

  doubt_bytes held() const;

private:
  doubt_bytes most_{UINT64_MAX, UINT64_MAX};
  mutable std::mutex mutex_;
  doubt_bytes all_;
  /// Only those that hold something: no more than there are repos in doubt.
  std::unordered_map<std::string, doubt_bytes> sources_;
};

/// What one repo has of the room; nothing any more when it ends.
class doubt_claim {
public:
  explicit doubt_claim(std::shared_ptr<doubt_room> room) noexcept
    : room_(std::move(room)) {
    // nop
  }

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
