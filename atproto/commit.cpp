#include "atproto/commit.hpp"

#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"

#include <algorithm>

namespace weir::atproto {

namespace {

constexpr int64_t commit_version = 3;

/// Bits that say which of the six keys a commit has.
enum : unsigned {
  has_did = 1,
  has_rev = 2,
  has_sig = 4,
  has_data = 8,
  has_prev = 16,
  has_version = 32,
  has_all = 63,
};

error wrong(std::string_view field) {
  return fail(ec::malformed, "commit with a wrong " + std::string{field});
}

/// Checks that a block is one strict item that is not nested too deeply, and
/// reads the head of its map.
result<size_t> open_commit(cbor::reader& in) {
  cbor::rules strict;
  strict.depth_max = limits::frame_depth_max;
  if (auto checked = cbor::validate(in.rest(), strict); !checked)
    return checked.error();
  return in.read_map();
}

result<cid> read_node_link(cbor::reader& in) {
  auto id = in.read_link();
  if (id && !id->is_dag_cbor())
    return fail(ec::malformed, "commit with a link of another form");
  return id;
}

result<unsigned> read_did(cbor::reader& in, commit_object& out) {
  const auto text = in.read_text();
  if (!text)
    return wrong("did");
  auto parsed = did::parse(*text);
  if (!parsed)
    return parsed.error();
  out.repo = std::move(*parsed);
  return unsigned{has_did};
}

result<unsigned> read_rev(cbor::reader& in, commit_object& out) {
  const auto text = in.read_text();
  const auto parsed = text ? tid::parse(*text) : std::nullopt;
  if (!parsed)
    return wrong("rev");
  out.rev = *parsed;
  return unsigned{has_rev};
}

result<unsigned> read_sig(cbor::reader& in, commit_object& out) {
  const auto sig = in.read_bytes();
  if (!sig || sig->size() != out.sig.size())
    return wrong("sig");
  std::copy(sig->begin(), sig->end(), out.sig.begin());
  return unsigned{has_sig};
}

/// Reads one entry. @returns its `has_` bit, or 0 for an unknown key.
result<unsigned> read_field(std::string_view key, cbor::reader& in,
                            commit_object& out) {
  if (key == "did")
    return read_did(in, out);
  if (key == "rev")
    return read_rev(in, out);
  if (key == "sig")
    return read_sig(in, out);
  if (key == "data") {
    auto id = read_node_link(in);
    if (!id)
      return id.error();
    out.data = std::move(*id);
    return unsigned{has_data};
  }
  if (key == "prev") {
    if (in.try_null())
      return unsigned{has_prev};
    auto id = read_node_link(in);
    if (!id)
      return id.error();
    out.prev = std::move(*id);
    return unsigned{has_prev};
  }
  if (key == "version") {
    const auto version = in.read_int();
    if (!version || *version != commit_version)
      return wrong("version");
    return unsigned{has_version};
  }
  if (auto skipped = in.skip(); !skipped)
    return skipped.error();
  return 0u;
}

/// What `cut_sig` must know of a block: where the entries begin,
/// how many there are, and which part of them is `sig`.
struct sig_place {
  size_t entries = 0;
  size_t entries_at = 0;
  size_t begin = 0;
  size_t end = 0;
  bytes_view sig;
};

result<sig_place> find_sig(bytes_view block) {
  cbor::reader in{block};
  const auto size = open_commit(in);
  if (!size)
    return size.error();
  sig_place out{*size, in.position(), 0, 0, {}};
  for (size_t i = 0; i < *size; ++i) {
    const auto begin = in.position();
    const auto key = in.read_text();
    if (!key)
      return key.error();
    if (*key == "sig") {
      const auto sig = in.read_bytes();
      if (!sig)
        return wrong("sig");
      out.begin = begin;
      out.end = in.position();
      out.sig = *sig;
      return out;
    }
    if (auto skipped = in.skip(); !skipped)
      return skipped.error();
  }
  return fail(ec::malformed, "commit without sig");
}

bytes cut_sig(bytes_view block, const sig_place& at) {
  cbor::writer head;
  head.begin_map(at.entries - 1);
  auto out = head.take();
  const auto add = [&out](bytes_view x) {
    out.insert(out.end(), x.begin(), x.end());
  };
  out.reserve(block.size());
  add(block.subspan(at.entries_at, at.begin - at.entries_at));
  add(block.subspan(at.end));
  return out;
}

} // namespace

result<commit_object> decode_commit(bytes_view block) {
  cbor::reader in{block};
  const auto size = open_commit(in);
  if (!size)
    return size.error();
  commit_object out;
  unsigned seen = 0;
  for (size_t i = 0; i < *size; ++i) {
    const auto key = in.read_text();
    if (!key)
      return key.error();
    const auto field = read_field(*key, in, out);
    if (!field)
      return field.error();
    seen |= *field;
  }
  if (seen != has_all)
    return fail(ec::malformed, "commit lacks a field");
  return out;
}

bool check_commit_signature(bytes_view block, const public_key& key) {
  const auto at = find_sig(block);
  return at && key.defined() && key.verify(cut_sig(block, *at), at->sig);
}

bytes encode_signed_commit(commit_object x, const private_key& key) {
  const auto encode = [&x](bool with_sig) {
    cbor::writer out;
    out.begin_map(with_sig ? 6 : 5);
    out.put_text("did").put_text(x.repo.str());
    out.put_text("rev").put_text(x.rev.str());
    if (with_sig)
      out.put_text("sig").put_bytes(x.sig);
    out.put_text("data").put_link(x.data);
    out.put_text("prev").put_link_or_null(x.prev);
    out.put_text("version").put_int(commit_version);
    return out.take();
  };
  x.sig = key.sign(encode(false));
  return encode(true);
}

} // namespace weir::atproto
