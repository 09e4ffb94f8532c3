#include "tests/system/event_file.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/sha256.hpp"

#include <charconv>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace weir::tests {

namespace {

std::string hash_of(std::string_view event) {
  return atproto::encode_hex(atproto::sha256(as_bytes(event)));
}

} // namespace

event_file::event_file(std::string path)
  : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (fd_ < 0)
    throw std::runtime_error("cannot open " + path);
}

event_file::~event_file() {
  close(fd_);
}

std::string event_file::append(uint64_t id, std::string_view event) {
  auto hash = hash_of(event);
  unwritten_ += std::to_string(id) + ' ' + hash + ' ';
  unwritten_.append(event).push_back('\n');
  return hash;
}

void event_file::sync() {
  std::string_view rest{unwritten_};
  while (!rest.empty()) {
    const auto n = write(fd_, rest.data(), rest.size());
    if (n <= 0)
      throw std::runtime_error("cannot write down what was taken");
    rest.remove_prefix(static_cast<size_t>(n));
  }
  unwritten_.clear();
  if (fdatasync(fd_) != 0)
    throw std::runtime_error("cannot make durable what was taken");
}

void event_file::read(const std::string& path,
                      const std::function<void(uint64_t, std::string_view,
                                               std::string_view)>& each) {
  std::ifstream in{path};
  for (std::string line; std::getline(in, line);) {
    const std::string_view text{line};
    const auto first = text.find(' ');
    const auto second = text.find(' ', first + 1);
    uint64_t id = 0;
    std::from_chars(text.data(), text.data() + first, id);
    if (second == std::string_view::npos || id == 0)
      throw std::runtime_error("a damaged line: " + line);
    const auto hash = text.substr(first + 1, second - first - 1);
    const auto event = text.substr(second + 1);
    if (hash != hash_of(event))
      throw std::runtime_error("a line with a wrong hash: " + line);
    each(id, hash, event);
  }
}

} // namespace weir::tests
