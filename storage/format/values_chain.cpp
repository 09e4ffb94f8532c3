#include "storage/format/byte_archive.hpp"
#include "storage/format/limits.hpp"
#include "storage/format/values.hpp"

#include <iterator>

/// The scopes of streams, and the row of a chain, whose streams need the table
/// of collections.
namespace weir::storage {

namespace {

constexpr std::string_view reserved_scopes[]
  = {commit_scope, identity_scope, account_scope, "$local"};

void read_streams(byte_input& ar, chain_row& x, const collection_names& names) {
  constexpr size_t stream_bytes_min = 35;
  const auto count = ar.take_count();
  if (count > ar.rest.size() / stream_bytes_min)
    throw bad_value{"a length is too large"};
  x.streams.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    uint32_t scope = 0;
    auto& stream = x.streams.emplace_back();
    ar(scope, stream.next_index, stream.hash, stream.records);
    auto name = scope_name(names, scope);
    if (!name)
      throw bad_value{"a collection has no name"};
    stream.scope = std::move(*name);
  }
}

shared_bytes read_passed(byte_input& ar) {
  const auto size = ar.take_count();
  if (size == 0 || size > limits::passed_block_bytes_max)
    throw bad_value{"the block of a commit has a wrong length"};
  return shared_bytes::copy_of(as_bytes(ar.take(size)));
}

} // namespace

std::optional<uint32_t> scope_id(const collection_names& names,
                                 std::string_view scope) {
  if (!scope.starts_with('$'))
    return names.id_of(scope);
  uint32_t id = commit_scope_id;
  for (const auto known : reserved_scopes) {
    if (scope == known)
      return id;
    ++id;
  }
  return std::nullopt;
}

std::optional<std::string> scope_name(const collection_names& names,
                                      uint32_t id) {
  if (id >= first_collection_id)
    return names.name_of(id);
  if (id < commit_scope_id || id > std::size(reserved_scopes))
    return std::nullopt;
  return std::string{reserved_scopes[id - commit_scope_id]};
}

result<std::string> encode_chain(const chain_row& x,
                                 const collection_names& names) {
  byte_output ar;
  ar.data.reserve(1024);
  ar(value_format, x.rev, x.data, x.commit, x.record_count, x.erased_through,
     x.index_base, x.streamed, x.passed);
  if (x.passed != 0) {
    ar.put_varint(x.passed_block.size());
    ar.put_raw(x.passed_block.data(), x.passed_block.size());
  }
  uint64_t apart = 0;
  uint64_t apart_operations = 0;
  for (const auto& stream : x.streams)
    if (stream.apart) {
      ++apart;
      apart_operations += stream.next_index;
    }
  ar(apart, apart_operations);
  ar.put_varint(x.streams.size() - apart);
  for (const auto& stream : x.streams) {
    if (stream.apart)
      continue;
    const auto scope = scope_id(names, stream.scope);
    if (!scope)
      return fail(ec::not_found, "no id for the scope " + stream.scope);
    ar(*scope, stream.next_index, stream.hash, stream.records);
  }
  return std::move(ar.data);
}

result<stored_chain> decode_chain(std::string_view x,
                                  const collection_names& names) {
  return guarded<stored_chain>(
    x, table::chain, [&](byte_input& ar, stored_chain& out) {
      auto& chain = out.chain;
      ar(chain.rev, chain.data, chain.commit, chain.record_count,
         chain.erased_through, chain.index_base, chain.streamed, chain.passed);
      if (chain.passed != 0)
        chain.passed_block = read_passed(ar);
      ar(out.apart, out.apart_operations);
      if (out.apart > limits::repo_streams_max
          || (out.apart == 0 && out.apart_operations != 0))
        throw bad_value{"it counts streams that it cannot have"};
      read_streams(ar, chain, names);
    });
}

} // namespace weir::storage
