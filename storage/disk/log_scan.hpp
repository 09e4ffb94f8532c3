#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// Our own reader of LevelDB's log format (as its own page has it), because
/// LevelDB's reader takes some damage for the end of the file.
namespace weir::storage {

/// Blocks of a log file; a record never crosses the end of one.
constexpr size_t log_file_block_size = 32'768;

/// Reads a file of LevelDB's log format, block by block, and finds where it
/// stops being what was written.
///
/// A file that ends inside a record is *torn*: a crash leaves that. Anything
/// else that does not parse is *damage*: wrong checksums, zeros, unknown types,
/// fragments that do not fit together. After either, the rest is searched for
/// the beginning of a valid record at any offset.
class log_scanner {
public:
  /// Gets the payload of every complete record, in order.
  using record_handler = std::function<void(std::string_view payload)>;

  /// Decides whether bytes found after damage, with a correct checksum, can be
  /// the beginning of a record that LevelDB wrote there: record payloads are
  /// chosen by others, so a checksum alone proves nothing.
  using record_filter = std::function<bool(std::string_view payload)>;

  log_scanner(record_handler on_record, record_filter plausible);

  /// The next block; only the last may be shorter than a block.
  void feed(std::string_view block, bool last);

  /// End of the last complete record before any damage.
  uint64_t valid_bytes() const noexcept { return valid_bytes_; }

  uint64_t records() const noexcept { return records_; }

  bool torn() const noexcept { return torn_; }

  /// Offset of the first damage.
  std::optional<uint64_t> damage() const noexcept { return damage_; }

  /// A record begins after the damage or after the torn one, or the damage is
  /// but a wrong length in front of a whole record.
  bool valid_after() const noexcept { return valid_after_; }

private:
  enum class step : uint8_t {
    next,
    block_done,
    broken,    ///< The header at hand is no good.
    misplaced, ///< The fragment is sound, but not here.
  };

  step read_fragment(std::string_view block, size_t& at, bool last);
  step take_fragment(uint8_t type, std::string_view payload);
  void search(std::string_view block, size_t at);

  record_handler on_record_;
  record_filter plausible_;
  uint64_t offset_ = 0; ///< Of the current block.
  uint64_t valid_bytes_ = 0;
  uint64_t records_ = 0;
  std::string record_; ///< Fragments so far.
  bool inside_ = false;
  bool torn_ = false;
  std::optional<uint64_t> damage_;
  bool valid_after_ = false;
};

} // namespace weir::storage
