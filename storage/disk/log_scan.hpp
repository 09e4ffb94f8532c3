#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// Our own reader of LevelDB's log format, which LevelDB's sources describe.
/// LevelDB's reader takes some damage for the end of the file.
namespace weir::storage {

/// Size of a block of a log file. No fragment crosses the end of a block.
constexpr size_t log_file_block_size = 32'768;

/// Reads a file of LevelDB's log format block by block, and finds where it is
/// no longer what was written.
///
/// A file that ends inside of a record is *torn*, which a crash may cause.
/// Anything else that does not parse is *damage*: wrong checksums, zeros,
/// unknown types, fragments out of place. After either, the rest of the file is
/// searched for the beginning of a valid record at any offset.
class log_scanner {
public:
  /// Receives the payload of every complete record, in order.
  using record_handler = std::function<void(std::string_view payload)>;

  /// Decides whether bytes after damage, with a correct checksum, can be the
  /// beginning of a record that LevelDB wrote there. Others choose what records
  /// contain, so a checksum alone proves nothing.
  using record_filter = std::function<bool(std::string_view payload)>;

  log_scanner(record_handler on_record, record_filter plausible);

  /// Takes the next block. Only the last one may be shorter than a block.
  void feed(std::string_view block, bool last);

  /// End of the last complete record before any damage.
  uint64_t valid_bytes() const noexcept { return valid_bytes_; }

  uint64_t records() const noexcept { return records_; }

  bool torn() const noexcept { return torn_; }

  /// Offset of the first damage.
  std::optional<uint64_t> damage() const noexcept { return damage_; }

  /// True when a record begins after the damaged or torn one, or when only the
  /// length of a whole record is wrong.
  bool valid_after() const noexcept { return valid_after_; }

private:
  enum class step : uint8_t {
    next,
    block_done,
    broken,    ///< The header is damaged.
    misplaced, ///< The fragment is valid, but not at this place.
  };

  step read_fragment(std::string_view block, size_t& at, bool last);
  step take_fragment(uint8_t type, std::string_view payload);
  void search(std::string_view block, size_t at);

  record_handler on_record_;
  record_filter plausible_;
  uint64_t offset_ = 0; ///< Offset of the current block.
  uint64_t valid_bytes_ = 0;
  uint64_t records_ = 0;
  std::string record_; ///< The fragments so far.
  bool inside_ = false;
  bool torn_ = false;
  std::optional<uint64_t> damage_;
  bool valid_after_ = false;
};

} // namespace weir::storage
