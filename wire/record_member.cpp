#include "wire/record_member.hpp"

#include "atproto/record_json.hpp"

namespace weir::wire {

void append_record_member(bytes_view body, std::string& out) {
  if (body.empty())
    return;
  const auto before = out.size();
  out += R"(,"record":)";
  const auto hazard = atproto::append_record_json(body, out);
  if (!hazard || *hazard != atproto::json_hazard::none)
    out.resize(before);
}

} // namespace weir::wire
