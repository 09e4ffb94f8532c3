#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace weir {

/// Owned bytes.
using bytes = std::vector<uint8_t>;

/// Borrowed bytes. Whoever stores a view says who owns the bytes.
using bytes_view = std::span<const uint8_t>;

/// The same memory seen as text. It is not checked for valid UTF-8.
inline std::string_view as_text(bytes_view x) noexcept {
  return {reinterpret_cast<const char*>(x.data()), x.size()};
}

/// The same memory seen as bytes.
inline bytes_view as_bytes(std::string_view x) noexcept {
  return {reinterpret_cast<const uint8_t*>(x.data()), x.size()};
}

/// Immutable bytes, shared by reference count. A slice keeps its whole buffer
/// alive. A frame is read into one such buffer, and its parts are slices of it;
/// the bodies of its records are copied only when they are written to the log.
///
/// # Ownership and threads
/// Copies share; the bytes never change, so any thread may read.
class shared_bytes {
public:
  shared_bytes() = default;

  /// Takes ownership of `x` without copying.
  explicit shared_bytes(bytes x) {
    auto owner = std::make_shared<const bytes>(std::move(x));
    view_ = *owner;
    owner_ = std::move(owner);
  }

  /// Shares `owner`, which keeps `view` valid.
  shared_bytes(std::shared_ptr<const void> owner, bytes_view view) noexcept
    : owner_(std::move(owner)), view_(view) {}

  /// Copies `x` into a new buffer.
  static shared_bytes copy_of(bytes_view x) {
    return shared_bytes{bytes(x.begin(), x.end())};
  }

  /// @pre `offset + size <= this->size()`
  shared_bytes slice(size_t offset, size_t size) const {
    return {owner_, view_.subspan(offset, size)};
  }

  /// @pre `part` lies inside this buffer.
  shared_bytes slice(bytes_view part) const { return {owner_, part}; }

  bytes_view view() const noexcept { return view_; }

  const uint8_t* data() const noexcept { return view_.data(); }

  size_t size() const noexcept { return view_.size(); }

  bool empty() const noexcept { return view_.empty(); }

private:
  std::shared_ptr<const void> owner_;
  bytes_view view_;
};

} // namespace weir
