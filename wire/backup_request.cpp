#include "wire/backup_request.hpp"

#include "wire/body_members.hpp"
#include "wire/json_tokens.hpp"

#include <optional>
#include <utility>

namespace weir::wire {

namespace {

static_assert(backup_members.size() == 1
              && backup_members.front().name == "directory");

class backup_handler final : public json_listener {
public:
  void begin_member(const std::string& name) override {
    constexpr size_t shown = 64; // Bytes shown of an unknown name.
    known_ = name == backup_members.front().name;
    if (!known_ && !unknown)
      unknown = name.substr(0, shown);
    repeated = repeated || (known_ && std::exchange(seen_, true));
  }

  void take_text(std::string& x) override {
    if (depth == 1 && known_)
      directory = std::move(x);
    else
      take_other();
  }

  std::optional<std::string> unknown; ///< The first unknown member.
  bool repeated = false;
  std::string directory;

private:
  bool known_ = false;
  bool seen_ = false;
};

} // namespace

result<std::string> parse_backup_request(std::string_view body) {
  backup_handler x;
  json_parser parser{x};
  parser.put(false, body);
  if (auto ok = parser.check(); !ok)
    return ok.error();
  if (x.unknown)
    return fail(ec::invalid_argument,
                unknown_member(*x.unknown, backup_members));
  if (x.repeated)
    return fail(ec::invalid_argument, "\"directory\" is there twice");
  if (!x.directory.starts_with('/')
      || x.directory.find('\0') != std::string::npos)
    return fail(ec::invalid_argument,
                "\"directory\" must be there, and an absolute path");
  return std::move(x.directory);
}

} // namespace weir::wire
