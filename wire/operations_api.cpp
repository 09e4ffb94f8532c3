#include "wire/operations_api.hpp"

#include "wire/json_object.hpp"
#include "wire/record_member.hpp"
#include "wire/tap.hpp"

namespace weir::wire {

namespace {

void add_rev(std::string_view name, atproto::tid x, json_object& to) {
  if (x.defined())
    to.text(name, x.str());
}

void add_cid(const atproto::cid* x, json_object& to) {
  if (x != nullptr && x->defined())
    to.text("cid", x->to_text());
}

/// Times before 1970, which only a wrong clock has, are 0.
void add_ms(std::string_view name, int64_t x, json_object& to) {
  to.number(name, x < 0 ? 0 : static_cast<uint64_t>(x));
}

void add_fact(bytes_view body, json_object& to) {
  if (const auto fact = parse_account_fact(body))
    append_account_fact(*fact, to.member("record"));
}

} // namespace

void append_operation(const operation_view& x, std::string& out) {
  json_object to{out};
  to.number("id", x.id);
  to.text_if_any("op_id", x.op_id);
  to.text_if_any("prev_op_id", x.prev_op_id);
  to.text_if_any("hash", x.hash);
  to.text("did", x.did);
  to.text("collection", x.collection);
  to.number("index", x.index);
  to.text("action", atproto::to_string(x.action));
  to.text_if_any("rkey", x.rkey);
  add_rev("rev", x.rev, to);
  add_cid(x.cid, to);
  if (x.passed != 0)
    to.number("passed", x.passed);
  add_ms("time_ms", x.time_ms, to);
  add_ms("written_ms", x.written_ms, to);
  to.flag("live", x.live);
  to.text("provenance", x.provenance);
  to.text_if_any("job", x.job);
  to.text("content", x.content);
  if (x.is_fact)
    add_fact(x.body, to);
  else
    append_record_member(x.body, out);
}

void append_operations(std::span<const operation_view> all,
                       std::string_view cursor, bool more, std::string& out) {
  json_object to{out};
  to.list("operations", all, append_operation);
  to.text("cursor", cursor);
  to.flag("more", more);
}

void append_stream_page(const stream_page_view& x, std::string& out) {
  json_object to{out};
  to.text("did", x.did);
  to.text("collection", x.collection);
  to.number("next_index", x.next_index);
  to.list("operations", x.operations, append_operation);
  to.text_if_any("cursor", x.cursor);
  to.flag("more", x.more);
}

void append_record(const record_view& x, std::string& out) {
  json_object to{out};
  auto uri = "at://" + std::string{x.did} + '/';
  uri.append(x.collection).append(1, '/').append(x.rkey);
  to.text("uri", uri);
  to.text("cid", x.cid->to_text());
  add_rev("rev", x.rev, to);
  to.number("id", x.id);
  add_rev("as_of", x.as_of, to);
  to.text("content", x.content);
  append_record_member(x.body, out);
}

void append_records(const records_view& x, std::string& out) {
  json_object to{out};
  to.text("did", x.did);
  to.text("status", x.status);
  add_rev("rev", x.rev, to);
  to.list("records", x.records, append_record);
  to.text_if_any("cursor", x.cursor);
}

} // namespace weir::wire
