#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "net/http_types.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace weir::net {

/// How a message says where its body ends.
enum class body_framing : uint8_t {
  none,
  sized,   ///< Content-Length.
  chunked, ///< Transfer-Encoding: chunked, and nothing else.
  to_end,  ///< The end of the stream; responses only.
};

/// Everything in front of a body. Header names are in lower case.
struct http_head {
  std::string method; ///< Only in requests.
  std::string target; ///< Only in requests.
  int status = 0;     ///< Only in responses.
  http_headers headers;
  bool http_1_0 = false;
  bool keep_alive = false;
  body_framing framing = body_framing::none;
  uint64_t content_length = 0; ///< Valid with `sized`.
};

/// Why a request is refused.
struct head_refusal {
  int status;         ///< 400 or 431.
  const char* reason; ///< Text for the client.
};

/// Checks a head that Beast has read, and more strictly than Beast. It passes
/// only what no two implementations read differently (hostile-inputs.md 2.2.5).
/// Refuses both Content-Length and Transfer-Encoding, either of them twice, no
/// Host or two, targets that are not a path, and more than
/// `limits::http_request_fields_max` fields (431).
std::optional<head_refusal> check_request_head(const http_head& head);

/// Reads one message with Beast's parser: its head, then its body. It keeps
/// none of the bytes. Beyond what Beast checks, a line between chunks has at
/// most `limits::http_chunk_line_bytes_max` bytes and a whole trailer at most
/// `limits::http_trailer_bytes_max`, neither holds a control byte, and a
/// request has no folded lines.
class http_parser {
public:
  /// Takes a piece of the body and returns how many bytes it took. Reading
  /// stops when they are fewer than were offered.
  using taker = std::function<size_t(bytes_view)>;

  http_parser() = default;
  virtual ~http_parser() = default;

  http_parser(const http_parser&) = delete;
  http_parser& operator=(const http_parser&) = delete;

  /// Reads from the start of `data`, as far as the head goes.
  /// @returns the number of bytes used; pass the rest again, with more behind.
  /// Errors: `ec::malformed`, `ec::limit_reached` (the head is too long).
  virtual result<size_t> put_head(bytes_view data) = 0;

  virtual bool has_head() const noexcept = 0;

  /// @pre `has_head()`
  http_head& head() noexcept { return head_; }

  /// A chunk that makes the body longer than this is refused as soon as its
  /// size is read: its bytes might never come.
  /// @pre `has_head()`, and nothing of the body was read.
  virtual void limit_chunks(uint64_t body_bytes_max) = 0;

  /// Reads on until the body ends, `take` stops, or more bytes are needed.
  /// @pre `has_head()`
  /// @returns as `put_head`; `ec::limit_reached` is a chunk that is too long.
  virtual result<size_t> put_body(bytes_view data, const taker& take) = 0;

  /// The stream ended. Error: `ec::unreachable`, unless that ends the body.
  virtual result<void> put_end() = 0;

  /// Whether all of the message was read.
  virtual bool done() const noexcept = 0;

protected:
  http_head head_;
};

std::unique_ptr<http_parser> make_request_parser(size_t head_bytes_max);

/// @param without_body True for the answer to a HEAD request.
std::unique_ptr<http_parser> make_response_parser(size_t head_bytes_max,
                                                  bool without_body = false);

} // namespace weir::net
