#pragma once

#include "storage/format/keys_log.hpp"
#include "storage/format/keys_node.hpp"
#include "storage/format/keys_repo.hpp"

/// Keys of all tables, one struct for each table (docs/storage-format.md 2). Do
/// not build a key by hand anywhere else.
///
///   auto key = encode_key(chain_key{did});
///   auto heads = range_of<record_head_key>(partition, did); // all of a repo
///   auto back = decode_key<record_head_key>(row.key());
namespace weir::storage {

/// A struct of this folder's `keys_*.hpp`. It names its table in `in` and lists
/// its parts in order in `parts`.
template <class Key>
concept table_key = requires(Key& x) {
  { Key::in } -> std::convertible_to<table>;
  Key::parts(x);
};

/// Appends the encoded key to `out`, for callers that reuse a buffer.
template <table_key Key>
void append_key(std::string& out, const Key& key) {
  key_writer writer{out};
  writer.put(Key::in);
  std::apply(
    [&](const auto&... part) {
      (writer.put(part), ...);
    },
    Key::parts(key));
}

template <table_key Key>
std::string encode_key(const Key& key) {
  std::string out;
  append_key(out, key);
  return out;
}

/// `ec::storage_failure` unless `encoded` is exactly what `encode_key` writes.
template <table_key Key>
result<Key> decode_key(std::string_view encoded) {
  Key key;
  key_reader reader{encoded};
  table in{};
  const bool ok = reader.get(in) && in == Key::in
                  && std::apply(
                    [&](auto&... part) {
                      return (reader.get(part) && ...);
                    },
                    Key::parts(key))
                  && reader.at_end();
  if (!ok)
    return bad_key(Key::in);
  return key;
}

/// Writes a leading part of a key. `Part` is its type in the key.
template <class Part, class T>
void put_leading(key_writer& out, const T& x) {
  static_assert(!std::same_as<Part, record_key>,
                "a record key ends a key, it cannot lead a range");
  out.put(static_cast<Part>(x));
}

/// The range of all keys that begin with these leading parts; without parts,
/// the whole table. A leading part is converted to the type it has in the key.
template <table_key Key, class... Parts>
key_range range_of(const Parts&... leading) {
  using parts = decltype(Key::parts(std::declval<const Key&>()));
  static_assert(sizeof...(Parts) <= std::tuple_size_v<parts>);
  std::string prefix;
  key_writer writer{prefix};
  writer.put(Key::in);
  [&]<size_t... I>(std::index_sequence<I...>) {
    (put_leading<std::decay_t<std::tuple_element_t<I, parts>>>(writer, leading),
     ...);
  }
  (std::index_sequence_for<Parts...>{});
  auto end = prefix_end(prefix);
  return {std::move(prefix), std::move(end)};
}

template <table_key Key>
bool operator==(const Key& x, const Key& y) {
  return Key::parts(x) == Key::parts(y);
}

} // namespace weir::storage
