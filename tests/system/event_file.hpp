#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace weir::tests {

/// What an application has taken: a file of (id, SHA-256 of the event, event),
/// one a line. What was appended is on disk once `sync` has returned.
class event_file {
public:
  /// Opens, or makes it.
  explicit event_file(std::string path);
  ~event_file();

  event_file(const event_file&) = delete;
  event_file& operator=(const event_file&) = delete;

  /// @returns the hash as it stands in the file.
  std::string append(uint64_t id, std::string_view event);

  /// Writes and fdatasyncs. Throws when that fails.
  void sync();

  /// Reads it from the start. Throws when a line is damaged or its hash is not
  /// that of its event.
  static void read(const std::string& path,
                   const std::function<void(uint64_t id, std::string_view hash,
                                            std::string_view event)>& each);

private:
  int fd_ = -1;
  std::string unwritten_;
};

} // namespace weir::tests
