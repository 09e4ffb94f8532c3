#include "net/http_writer.hpp"

#include <boost/beast/http/error.hpp> // Brings what the next one needs.
#include <boost/beast/http/status.hpp>

namespace weir::net {

http_writer::http_writer(std::string_view method, std::string_view target)
  : good_(is_token(method)) {
  text_.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
}

http_writer::http_writer(int status) {
  namespace http = boost::beast::http;
  const auto phrase
    = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
  text_ = "HTTP/1.1 " + std::to_string(status) + ' ';
  text_.append(phrase.data(), phrase.size()).append("\r\n");
}

void http_writer::add(std::string_view name, std::string_view value) {
  good_ = good_ && is_token(name) && is_header_value(value);
  text_.append(name).append(": ").append(value).append("\r\n");
}

std::string http_writer::take() {
  if (!good_)
    return {};
  text_ += "\r\n";
  return std::move(text_);
}

} // namespace weir::net
