#pragma once

#include "actors/api/answers.hpp"
#include "actors/api/request_body.hpp"
#include "messages/backup.hpp"
#include "messages/caf_types.hpp"
#include "wire/backup_request.hpp"

namespace weir::actors {

/// The body of the answer of `POST /backup`.
inline net::http_reply backup_reply(const backup_made& x) {
  return object_reply(200, [&x](wire::json_object& out) {
    append_text(x.folder, out.member("folder"));
    out.number("files", x.files);
    out.number("bytes", x.bytes);
    out.number("copied_bytes", x.copied_bytes);
    out.number("reused_files", x.reused_files);
    out.number("pause_us", static_cast<uint64_t>(x.pause.count()));
    out.number("duration_ms",
               static_cast<uint64_t>(x.duration.count() / 1'000));
  });
}

/// Has BACKUP make a backup. The answer comes when it is complete.
/// @param body A `text_body`.
template <class Self>
void order_backup(Self* self, const backup_actor& to,
                  const net::body_sink& body, const net::responder& answer) {
  auto directory
    = wire::parse_backup_request(static_cast<const text_body&>(body).text());
  if (!directory)
    return answer.send(problem(directory.error()));
  self->request(to, caf::infinite, make_backup{std::move(*directory)})
    .then([answer](const backup_made& x) { answer.send(backup_reply(x)); },
          [answer](const caf::error& why) {
            answer.send(problem(from_caf(why)));
          });
}

} // namespace weir::actors
