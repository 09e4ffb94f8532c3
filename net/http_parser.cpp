#include "net/http_parser.hpp"

#include "net/limits.hpp"

// GCC 12 takes an empty boost::optional for one that is used (sanitizers on).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <boost/beast/http/basic_parser.hpp>
#pragma GCC diagnostic pop

#include <algorithm>
#include <charconv>

namespace weir::net {

namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using text_view = boost::beast::string_view;

std::string lower_case(text_view x) {
  std::string out{x.data(), x.size()};
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// Beast's parser, for heads only.
template <bool IsRequest>
class head_parser final : public http::basic_parser<IsRequest> {
  using base = http::basic_parser<IsRequest>;

public:
  result<http_head> parse(std::string_view head) {
    base::header_limit(static_cast<uint32_t>(head.size()) + 1);
    base::body_limit(boost::none);
    base::skip(true);
    error_code error;
    auto used = base::put({head.data(), head.size()}, error);
    if (error)
      return fail(ec::malformed, "HTTP head: " + error.message());
    if (!base::is_done() || used != head.size())
      return fail(ec::malformed, "HTTP head: not one whole head");
    head_.keep_alive = base::keep_alive();
    if (auto n = base::content_length()) {
      head_.framing = body_framing::sized;
      head_.content_length = *n;
    }
    if (auto x = find_header(head_.headers, "transfer-encoding")) {
      if (!base::chunked() || !same_text(*x, "chunked"))
        return fail(ec::malformed, "HTTP head: unknown transfer encoding");
      head_.framing = body_framing::chunked;
    }
    return std::move(head_);
  }

private:
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
    head_.headers.push_back(
      {lower_case(name), std::string{value.data(), value.size()}});
  }

  void on_header_impl(error_code&) override {
    // nop
  }

  void on_body_init_impl(const boost::optional<uint64_t>&,
                         error_code&) override {
    // nop
  }

  size_t on_body_impl(text_view body, error_code&) override {
    return body.size();
  }

  void on_chunk_header_impl(uint64_t, text_view, error_code&) override {
    // nop
  }

  size_t on_chunk_body_impl(uint64_t, text_view body, error_code&) override {
    return body.size();
  }

  void on_finish_impl(error_code&) override {
    // nop
  }

  http_head head_;
};

error bad_chunk(const char* why) {
  return fail(ec::malformed, std::string{"HTTP chunk: "} + why);
}

} // namespace

size_t find_head_end(std::string_view data) noexcept {
  auto at = data.find("\r\n\r\n");
  return at == std::string_view::npos ? 0 : at + 4;
}

result<http_head> parse_request_head(std::string_view head) {
  return head_parser<true>{}.parse(head);
}

result<http_head> parse_response_head(std::string_view head, bool to_head) {
  auto x = head_parser<false>{}.parse(head);
  if (!x)
    return x;
  if (x->status < 100)
    return fail(ec::malformed, "HTTP head: a status below 100");
  if (to_head || x->status / 100 == 1 || x->status == 204 || x->status == 304) {
    x->framing = body_framing::none;
  } else if (x->framing == body_framing::none) {
    x->framing = body_framing::to_end;
    x->keep_alive = false;
  }
  return x;
}

// -- http_body_reader ---------------------------------------------------------

http_body_reader::http_body_reader(body_framing framing, uint64_t size) noexcept
  : framing_(framing), state_(state::data), left_(size) {
  if (framing == body_framing::chunked)
    state_ = state::chunk_size;
  else if (framing == body_framing::to_end)
    left_ = UINT64_MAX;
  else if (framing == body_framing::none || size == 0)
    state_ = state::done;
}

result<size_t> http_body_reader::put(bytes_view data, const taker& take) {
  size_t used = 0;
  while (state_ != state::done) {
    auto rest = data.subspan(used);
    if (state_ != state::data) {
      auto n = on_line(rest);
      if (!n || *n == 0)
        return n ? result<size_t>{used} : n;
      used += *n;
      continue;
    }
    auto piece
      = rest.first(static_cast<size_t>(std::min<uint64_t>(left_, rest.size())));
    if (piece.empty())
      break;
    auto n = take(piece);
    used += n;
    if (framing_ != body_framing::to_end)
      left_ -= n;
    if (n < piece.size())
      break;
    if (left_ == 0)
      state_
        = framing_ == body_framing::chunked ? state::data_end : state::done;
  }
  return used;
}

result<void> http_body_reader::put_end() noexcept {
  if (framing_ == body_framing::to_end)
    state_ = state::done;
  if (state_ == state::done)
    return {};
  return fail(ec::unreachable, "the connection ended inside the body");
}

/// Handles one line between chunks. 0 when it is not complete.
result<size_t> http_body_reader::on_line(bytes_view data) {
  auto text = as_text(
    data.first(std::min(data.size(), limits::http_trailer_bytes_max)));
  auto end = text.find('\n');
  if (end == std::string_view::npos)
    return data.size() > limits::http_chunk_line_bytes_max
               && state_ != state::trailer
             ? result<size_t>{bad_chunk("line is too long")}
           : data.size() >= limits::http_trailer_bytes_max
             ? result<size_t>{bad_chunk("trailer is too long")}
             : result<size_t>{0};
  if (end == 0 || text[end - 1] != '\r')
    return bad_chunk("line does not end with CRLF");
  auto line = text.substr(0, end - 1);
  if (!is_header_value(line))
    return bad_chunk("control byte in a line");
  result<void> done;
  if (state_ == state::trailer)
    done = on_trailer(line);
  else if (state_ == state::chunk_size)
    done = on_chunk_size(line);
  else if (line.empty())
    state_ = state::chunk_size;
  else
    done = bad_chunk("no line end behind the data");
  if (!done)
    return done.error();
  return end + 1;
}

result<void> http_body_reader::on_chunk_size(std::string_view line) {
  if (line.size() > limits::http_chunk_line_bytes_max)
    return bad_chunk("line is too long");
  auto digits = line.substr(0, line.find(';'));
  auto end = digits.data() + digits.size();
  auto [rest, error] = std::from_chars(digits.data(), end, left_, 16);
  if (error != std::errc{} || rest != end)
    return bad_chunk("bad size");
  state_ = left_ == 0 ? state::trailer : state::data;
  return {};
}

result<void> http_body_reader::on_trailer(std::string_view line) {
  trailer_bytes_ += line.size() + 2;
  if (trailer_bytes_ > limits::http_trailer_bytes_max)
    return bad_chunk("trailer is too long");
  if (line.empty())
    state_ = state::done;
  return {};
}

} // namespace weir::net
