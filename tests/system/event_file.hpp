#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace weir::tests {

/// The events that an application has taken: a file with one (id, SHA-256 of
/// the event, event) a line. An appended line is on disk when `sync` has
/// returned.
class event_file {
public:
  /// Opens the file, or creates it.
  explicit event_file(std::string path);
  ~event_file();

  event_file(const event_file&) = delete;
  event_file& operator=(const event_file&) = delete;

  /// @returns The hash, in the form that is written to the file.
  std::string append(uint64_t id, std::string_view event);

  /// Writes and calls fdatasync. Throws when that fails.
  void sync();

  /// Reads the file from the start. Throws when a line is damaged or its hash
  /// does not fit its event.
  static void read(const std::string& path,
                   const std::function<void(uint64_t id, std::string_view hash,
                                            std::string_view event)>& each);

private:
  int fd_ = -1;
  std::string unwritten_;
};

} // namespace weir::tests
