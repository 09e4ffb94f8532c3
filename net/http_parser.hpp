#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "net/http_types.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace weir::net {

/// How a message says where its body ends.
enum class body_framing : uint8_t {
  none,
  sized,   ///< Content-Length.
  chunked, ///< Transfer-Encoding: chunked, and nothing else.
  to_end,  ///< The end of the stream; responses only.
};

/// Everything in front of a body. Names in lower case.
struct http_head {
  std::string method; ///< Requests.
  std::string target; ///< Requests.
  int status = 0;     ///< Responses.
  http_headers headers;
  bool http_1_0 = false;
  bool keep_alive = false;
  body_framing framing = body_framing::none;
  uint64_t content_length = 0; ///< For `sized`.
};

/// What `check_request_head` found.
struct head_verdict {
  enum class kind : uint8_t { incomplete, complete, refused };
  kind what = kind::incomplete;
  size_t size = 0;         ///< Bytes of a complete head.
  int status = 0;          ///< Of a refusal: 400 or 431.
  const char* reason = ""; ///< Of a refusal: a sentence.
};

/// Judges the bytes of a request up to the end of its head, more strictly than
/// a parser must: only what no two implementations can read differently passes
/// (hostile-inputs.md 2.2.5). Refuses both Content-Length and
/// Transfer-Encoding, either twice, other encodings than chunked, folded lines,
/// bare LF or CR, control bytes, spaces around names, absent or second Host,
/// targets that are not a path, more than `limits::http_request_fields_max`
/// fields (431) and heads above `limits::http_request_head_bytes_max` (431).
head_verdict check_request_head(std::string_view data);

/// Size of a head with its empty line, or 0 while that has not come.
size_t find_head_end(std::string_view data) noexcept;

/// Parses one whole head. `ec::malformed`.
result<http_head> parse_request_head(std::string_view head);

/// @param to_head Whether it answers a HEAD request, so that no body follows.
result<http_head> parse_response_head(std::string_view head, bool to_head);

/// Finds a body in the bytes behind a head. Holds none of them. Lines between
/// chunks have at most `limits::http_chunk_line_bytes_max`, all of a trailer
/// `limits::http_trailer_bytes_max`.
class http_body_reader {
public:
  /// Takes a piece of the body and says how many bytes it took. Fewer than
  /// offered stops the reader.
  using taker = std::function<size_t(bytes_view)>;

  explicit http_body_reader(const http_head& head)
    : http_body_reader(head.framing, head.content_length) {
    // nop
  }

  http_body_reader(body_framing framing, uint64_t size) noexcept;

  /// Reads from the start of `data` until the body ends, `take` stops, or more
  /// bytes are needed.
  /// @returns the bytes used; the rest must come again, with more behind it.
  result<size_t> put(bytes_view data, const taker& take);

  /// The stream ended. `ec::unreachable` unless that is how the body ends.
  result<void> put_end() noexcept;

  bool done() const noexcept { return state_ == state::done; }

private:
  enum class state : uint8_t { data, data_end, chunk_size, trailer, done };

  result<size_t> on_line(bytes_view data);
  result<void> on_chunk_size(std::string_view line);
  result<void> on_trailer(std::string_view line);

  body_framing framing_;
  state state_;
  uint64_t left_; ///< Of the body, or of the chunk.
  size_t trailer_bytes_ = 0;
};

} // namespace weir::net
