#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace weir {

/// What the bytes are used for.
enum class memory_use : uint8_t {
  streams,   ///< Frames between the socket and the disk.
  repos,     ///< Commits that wait in REPOs.
  fetches,   ///< Downloads of whole repos and what is read from them.
  delivery,  ///< Log entries that were read for consumers.
  identity,  ///< Identity documents in memory and questions for them.
  requests,  ///< Request bodies of clients that wait for an answer.
  names,     ///< Names of collections, for all repos.
  claims,    ///< DIDs that only listings have named so far.
  questions, ///< Questions to hosts for the state of an account.
};

/// Counts the bytes that the queues and caches of a node hold, by kind. The sum
/// is part of what is compared with `memory_limit`.
///
/// # Threads
/// All calls are safe from any thread.
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

  /// The part of the total that shrinks by itself once nothing more is let in.
  /// It leaves out what waits for applications that do not read, and what is
  /// cached of identities and collection names.
  uint64_t passing() const noexcept {
    return held(memory_use::streams) + held(memory_use::repos)
           + held(memory_use::fetches) + held(memory_use::requests)
           + held(memory_use::claims) + held(memory_use::questions);
  }

  /// Replaces one owner's amount `from` by `to`, in bytes.
  void change(memory_use of, uint64_t from, uint64_t to) noexcept {
    // Subtraction wraps: adding `to - from` modulo 2^64 also lowers the sum.
    bytes_[static_cast<size_t>(of)].fetch_add(to - from,
                                              std::memory_order_relaxed);
  }

private:
  std::array<std::atomic<uint64_t>, names.size()> bytes_{};
};

/// The amount that one owner has entered in the ledger. Its destructor takes
/// the amount out again.
class byte_claim {
public:
  byte_claim() = default;

  byte_claim(std::shared_ptr<byte_ledger> ledger, memory_use of) noexcept
    : ledger_(std::move(ledger)), of_(of) {}

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
