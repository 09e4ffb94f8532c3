#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace weir {

/// Whose bytes.
enum class memory_use : uint8_t {
  streams,   ///< Frames between the socket and the disk.
  repos,     ///< Commits that REPOs hold back.
  fetches,   ///< Repos that are being fetched.
  delivery,  ///< Log entries on their way to consumers.
  identity,  ///< Documents, known and asked for.
  requests,  ///< Bodies of clients until they are answered.
  names,     ///< Of collections, of all repos.
  claims,    ///< DIDs that only listings name.
  questions, ///< What accounts are at their hosts.
};

/// All bytes that the queues of a node hold, by kind: what `memory_limit` is
/// compared with. Any thread.
class byte_ledger {
public:
  static constexpr std::array<std::string_view, 9> names{
    "streams",  "repos", "fetches", "delivery", "identity",
    "requests", "names", "claims",  "questions"};

  uint64_t held(memory_use of) const noexcept {
    return bytes_[static_cast<size_t>(of)].load(std::memory_order_relaxed);
  }

  uint64_t total() const noexcept {
    uint64_t out = 0;
    for (const auto& x : bytes_)
      out += x.load(std::memory_order_relaxed);
    return out;
  }

  /// Of what gets less when nothing more is let in: applications that do not
  /// read, and what is known of identities and collections, stay.
  uint64_t passing() const noexcept {
    return held(memory_use::streams) + held(memory_use::repos)
           + held(memory_use::fetches) + held(memory_use::requests)
           + held(memory_use::claims) + held(memory_use::questions);
  }

  /// From so many bytes to so many, of one owner.
  void change(memory_use of, uint64_t from, uint64_t to) noexcept {
    // Unsigned: less is the same as adding the difference modulo 2^64.
    bytes_[static_cast<size_t>(of)].fetch_add(to - from,
                                              std::memory_order_relaxed);
  }

private:
  std::array<std::atomic<uint64_t>, names.size()> bytes_{};
};

/// What one owner says that it holds; nothing any more when it ends.
class byte_claim {
public:
  byte_claim() = default;

  byte_claim(std::shared_ptr<byte_ledger> ledger, memory_use of) noexcept
    : ledger_(std::move(ledger)), of_(of) {
    // nop
  }

  ~byte_claim() { set(0); }

  byte_claim(const byte_claim&) = delete;
  byte_claim& operator=(const byte_claim&) = delete;

  void set(uint64_t now) noexcept {
    if (ledger_ && now != held_)
      ledger_->change(of_, std::exchange(held_, now), now);
  }

private:
  std::shared_ptr<byte_ledger> ledger_;
  memory_use of_ = memory_use::streams;
  uint64_t held_ = 0;
};

} // namespace weir
