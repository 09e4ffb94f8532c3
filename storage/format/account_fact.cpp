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

} // namespace weir::storage
