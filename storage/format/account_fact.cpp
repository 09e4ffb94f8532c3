#include "storage/format/account_fact.hpp"

#include "atproto/record_json.hpp"

namespace weir::storage {

std::string fact_json(const repo_row& x) {
  std::string out = R"({"handle":)";
  atproto::append_json_string(handle_or_none(x.handle), out);
  out += x.account == account_status::active ? R"(,"is_active":true)"
                                             : R"(,"is_active":false)";
  out += R"(,"status":")";
  out += to_string(x.account);
  return out += "\"}";
}

namespace {

constexpr std::string_view before_handle = R"({"handle":")";

constexpr account_status statuses[] = {
  account_status::active,    account_status::deactivated,
  account_status::suspended, account_status::takendown,
  account_status::deleted,
};

} // namespace

/// Handles have no character that JSON writes in another way, so the first
/// quotation mark ends one. What the row then says is compared with all of the
/// text.
bool read_fact(std::string_view json, repo_row& row) {
  if (!json.starts_with(before_handle))
    return false;
  const auto text = json.substr(before_handle.size());
  auto out = row;
  out.handle = text.substr(0, text.find('"'));
  for (const auto status : statuses) {
    out.account = status;
    if (fact_json(out) != json)
      continue;
    out.words = {};
    out.words.host = status;
    row = std::move(out);
    return true;
  }
  return false;
}

} // namespace weir::storage
