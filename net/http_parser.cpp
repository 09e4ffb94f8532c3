#include "net/http_parser.hpp"

#include "net/limits.hpp"

// With sanitizers, GCC 12 warns that an empty boost::optional may be used.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <boost/beast/http/basic_parser.hpp>
#pragma GCC diagnostic pop

#include <algorithm>

namespace weir::net {

namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using text_view = boost::beast::string_view;

error malformed(std::string why) {
  return fail(ec::malformed, "HTTP: " + std::move(why));
}

/// Whether lines end with CRLF and hold no other control byte. The last line
/// may be incomplete.
bool are_clean_lines(std::string_view x) noexcept {
  for (size_t i = 0; i < x.size(); ++i) {
    const auto ends = x[i] == '\r' && (i + 1 == x.size() || x[i + 1] == '\n');
    const auto ended = x[i] == '\n' && i > 0 && x[i - 1] == '\r';
    if (!ends && !ended && !is_header_value(x.substr(i, 1)))
      return false;
  }
  return true;
}

/// Whether a header field is continued on the next line.
bool has_folds(std::string_view lines) noexcept {
  return lines.find("\r\n ") != lines.npos
         || lines.find("\r\n\t") != lines.npos;
}

/// Checks a line between chunks, or the last such line with the trailer behind
/// it, as far as the bytes have come.
result<void> check_chunk_line(std::string_view x) {
  if (x.starts_with("\r\n"))
    x.remove_prefix(2); // The end of the chunk before.
  if (!are_clean_lines(x))
    return malformed("control byte in a line between chunks");
  // Beast reads the last line only when all of the trailer has come.
  const auto digits = x.find_first_not_of("0123456789abcdefABCDEF");
  if (digits < x.size() && std::string_view{"; \t\r"}.find(x[digits]) == x.npos)
    return malformed("bad size of a chunk");
  const auto end = std::min(x.find('\r'), x.size());
  if (end > limits::http_chunk_line_bytes_max)
    return malformed("a line between chunks is too long");
  if (x.size() - end > limits::http_trailer_bytes_max + 2)
    return malformed("the trailer is too long");
  return {};
}

/// A chunk size of sixteen digits, with the CRLF before and behind it.
constexpr size_t plain_bytes_max = 20;

/// Beast's parser and the functions that it calls.
template <bool IsRequest>
class beast_parser final : public http_parser,
                           private http::basic_parser<IsRequest> {
  using base = http::basic_parser<IsRequest>;

public:
  beast_parser(size_t head_bytes_max, bool without_body)
    : head_bytes_max_(head_bytes_max), without_body_(without_body) {
    base::header_limit(static_cast<uint32_t>(head_bytes_max));
    base::body_limit(boost::none); // The callers have their own bounds.
    base::skip(without_body);
  }

  result<size_t> put_head(bytes_view data) override {
    // Beast's bound counts for the first line and for the fields separately.
    const auto left = head_bytes_max_ - head_bytes_;
    const auto text = as_text(data).substr(0, left);
    error_code error;
    const auto used = text.empty() ? 0 : put(as_bytes(text), error);
    const auto too_long = error == http::error::header_limit;
    if (error && error != http::error::need_more && !too_long)
      return malformed(error.message());
    if (IsRequest && has_folds(text.substr(0, used)))
      return malformed("a folded line");
    const auto rest = text.substr(used);
    if (IsRequest && !base::is_header_done() && !are_clean_lines(rest))
      return malformed("control byte in a head");
    if (too_long || (!base::is_header_done() && text.size() == left))
      return fail(ec::limit_reached, "the head is longer than "
                                       + std::to_string(head_bytes_max_)
                                       + " bytes: send fewer or shorter header "
                                         "fields");
    head_bytes_ += used;
    if (base::is_header_done())
      if (auto good = finish_head(); !good)
        return good.error();
    return used;
  }

  bool has_head() const noexcept override { return base::is_header_done(); }

  void limit_chunks(uint64_t body_bytes_max) override {
    base::body_limit(body_bytes_max);
  }

  result<size_t> put_body(bytes_view data, const taker& take) override {
    take_ = &take;
    size_t used = 0;
    for (error_code error; !error && !base::is_done() && used < data.size();) {
      const auto rest = data.subspan(used);
      if (is_part_of_last_chunk(as_text(rest)))
        break;
      in_line_ = false;
      const auto n = put(rest, error);
      const auto waits = error == http::error::need_more;
      if (error == http::error::body_limit) {
        // Beast has read the line, so it has an end.
        const auto end = as_text(rest).find('\n', 2) + 1;
        const auto line = as_text(rest).substr(0, end);
        const auto good = check_chunk_line(line); // As if it came in pieces.
        return good ? fail(ec::limit_reached, "a chunk is too long")
                    : good.error();
      }
      if (error && !waits && error != http::error::need_buffer)
        return malformed(error.message());
      if (waits || (in_line_ && !(plain_ && n <= plain_bytes_max)))
        if (auto good = check_chunk_line(
              as_text(waits ? rest.subspan(n) : rest.first(n)));
            !good)
          return good.error();
      used += n;
    }
    return used;
  }

  result<void> put_end() override {
    error_code error;
    if (!base::is_done())
      base::put_eof(error);
    if (error)
      return fail(ec::unreachable, "the connection ended inside the body");
    return {};
  }

  bool done() const noexcept override { return base::is_done(); }

private:
  /// The Beast of Boost 1.81 fails an assertion when it sees the last chunk
  /// with one byte missing, and bytes from the network may come like that.
  bool is_part_of_last_chunk(std::string_view x) const noexcept {
    constexpr std::string_view whole = "0\r\n\r\n";
    return head_.framing == body_framing::chunked && !in_chunk_
           && x.size() < whole.size() && whole.starts_with(x);
  }

  size_t put(bytes_view data, error_code& error) {
    return base::put({data.data(), data.size()}, error);
  }

  result<void> finish_head() {
    head_.keep_alive = base::keep_alive();
    if (const auto n = base::content_length()) {
      head_.framing = body_framing::sized;
      head_.content_length = *n;
    }
    if (auto x = find_header(head_.headers, "transfer-encoding")) {
      if (!base::chunked() || !same_text(*x, "chunked"))
        return malformed("unknown transfer encoding");
      head_.framing = body_framing::chunked;
    }
    if constexpr (!IsRequest) {
      if (head_.status < 100)
        return malformed("a status below 100");
      if (without_body_ || head_.status / 100 == 1 || head_.status == 204
          || head_.status == 304)
        head_.framing = body_framing::none;
      else if (base::need_eof())
        head_.framing = body_framing::to_end;
    }
    return {};
  }

  size_t give(text_view body, error_code& error) {
    const auto n = (*take_)(as_bytes({body.data(), body.size()}));
    if (n < body.size())
      error = http::error::need_buffer;
    return n;
  }

  void on_request_impl(http::verb, text_view method, text_view target,
                       int version, error_code&) override {
    head_.method.assign(method.data(), method.size());
    head_.target.assign(target.data(), target.size());
    head_.http_1_0 = version == 10;
  }

  void on_response_impl(int status, text_view, int version,
                        error_code&) override {
    head_.status = status;
    head_.http_1_0 = version == 10;
  }

  void on_field_impl(http::field, text_view name, text_view value,
                     error_code&) override {
    if (!in_line_) // Trailers are not kept.
      head_.headers.push_back({lower_case({name.data(), name.size()}),
                               std::string{value.data(), value.size()}});
  }

  void on_header_impl(error_code&) override {}

  void on_body_init_impl(const boost::optional<uint64_t>&,
                         error_code&) override {}

  size_t on_body_impl(text_view body, error_code& error) override {
    return give(body, error);
  }

  void on_chunk_header_impl(uint64_t size, text_view extension,
                            error_code&) override {
    in_line_ = true;
    in_chunk_ = size > 0;
    plain_ = in_chunk_ && extension.empty();
  }

  size_t on_chunk_body_impl(uint64_t left, text_view body,
                            error_code& error) override {
    const auto n = give(body, error);
    in_chunk_ = n < left;
    return n;
  }

  void on_finish_impl(error_code&) override {}

  size_t head_bytes_max_;
  size_t head_bytes_ = 0; ///< Bytes of the head that were used so far.
  bool without_body_;
  bool in_line_ = false; ///< The bytes in hand contain a line between chunks.
  bool in_chunk_ = false;
  bool plain_ = false; ///< The line is nothing but the size of a chunk.
  const taker* take_ = nullptr;
};

} // namespace

std::unique_ptr<http_parser> make_request_parser(size_t head_bytes_max) {
  return std::make_unique<beast_parser<true>>(head_bytes_max, false);
}

std::unique_ptr<http_parser> make_response_parser(size_t head_bytes_max,
                                                  bool without_body) {
  return std::make_unique<beast_parser<false>>(head_bytes_max, without_body);
}

} // namespace weir::net
