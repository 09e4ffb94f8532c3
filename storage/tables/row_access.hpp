#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"

/// Reads decoded rows instead of bytes.
namespace weir::storage {

/// The row at `key`, or nothing.
template <class Row, table_key Key>
result<std::optional<Row>> load_row(const database& db, const Key& key) {
  const auto value = db.get(encode_key(key));
  if (!value)
    return value.error();
  if (!*value)
    return std::optional<Row>{};
  auto row = decode_value<Row>(**value, Key::in);
  if (!row)
    return row.error();
  return std::optional<Row>{std::move(*row)};
}

/// Calls `visit(key, value)` for the rows of a reader, until it returns false.
/// The value is encoded and valid during the call.
template <table_key Key, class Reader, class Visit>
result<void> each_value(Reader rows, Visit visit) {
  for (; rows.valid(); rows.next()) {
    auto key = decode_key<Key>(rows.key());
    if (!key)
      return key.error();
    result<bool> more = visit(*key, rows.value());
    if (!more)
      return more.error();
    if (!*more)
      break;
  }
  // Checked after an early end, too: a scan skips blocks that it cannot read.
  return rows.status();
}

/// The same for the rows of `range` in order.
template <table_key Key, class Visit>
result<void> each_value(const database& db, const key_range& range,
                        Visit visit) {
  return each_value<Key>(db.scan(range), std::move(visit));
}

/// The same with decoded values.
template <class Row, table_key Key, class Reader, class Visit>
result<void> each_row(Reader rows, Visit visit) {
  return each_value<Key>(std::move(rows),
                         [&](Key& key, std::string_view value) -> result<bool> {
                           auto row = decode_value<Row>(value, Key::in);
                           if (!row)
                             return row.error();
                           return visit(key, *row);
                         });
}

template <class Row, table_key Key, class Visit>
result<void> each_row(const database& db, const key_range& range, Visit visit) {
  return each_row<Row, Key>(db.scan(range), std::move(visit));
}

/// @returns at most `limit` rows of a reader in order, each as what
/// `make(key, row)` returns.
template <class Row, table_key Key, class Reader, class Make>
auto first_rows(Reader rows, size_t limit, Make make) {
  std::vector<std::invoke_result_t<Make, Key&, Row&>> out;
  using page = result<decltype(out)>;
  if (limit == 0)
    return page{std::move(out)};
  const auto ok = each_row<Row, Key>(std::move(rows), [&](Key& key, Row& row) {
    out.push_back(make(key, row));
    return out.size() < limit;
  });
  return ok ? page{std::move(out)} : page{ok.error()};
}

/// `range` without the keys up to and including `key`.
template <table_key Key>
key_range after_key(key_range range, const Key& key) {
  range.begin = key_after(encode_key(key));
  return range;
}

} // namespace weir::storage
