#pragma once

#include "actors/support/account_json.hpp"
#include "actors/support/health_machine.hpp"
#include "actors/support/site.hpp"
#include "messages/identity.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace weir::actors {

// What answers to look-ups mean for an identity (protocol-coverage.md 8) and
// the directory's health. Without sockets or CAF; `identity_bridge` asks.

inline std::string_view trimmed(std::string_view x) noexcept {
  constexpr std::string_view blank = " \t\r\n";
  x.remove_prefix(std::min(x.find_first_not_of(blank), x.size()));
  return x.substr(0, x.find_last_not_of(blank) + 1);
}

/// A whole answer by HTTP, of any status.
struct lookup_answer {
  int status = 0;
  std::string_view body; ///< Valid as long as the answer itself.
  std::optional<std::chrono::seconds> retry_after{};
  std::optional<wall_time> date{};

  std::string status_text() const { return "HTTP " + std::to_string(status); }

  /// The pause that an answer with status 429 asks for.
  std::optional<std::chrono::seconds> pause() const noexcept {
    if (status != 429)
      return std::nullopt;
    return retry_after.value_or(std::chrono::seconds{0});
  }
};

inline bool is_of_directory(const atproto::did& x) {
  return x.str().starts_with("did:plc:");
}

/// Whether an answer means that the identity no longer exists
/// (protocol-coverage.md 8.1): 410, or from the directory of did:plc a 404 with
/// the text "not available". A web page with status 410 is from a proxy before
/// the directory (docs/adr/0011).
inline bool says_gone(const atproto::did& repo, int status,
                      std::string_view body) {
  const auto of_directory = is_of_directory(repo);
  const auto is_web_page = trimmed(body).starts_with('<');
  return (status == 410 && !(of_directory && is_web_page))
         || (status == 404 && of_directory
             && body.find("not available") != body.npos);
}

/// What the directory, or the host of a did:web, says of a DID.
inline identity_document document_in(const atproto::did& repo,
                                     const result<lookup_answer>& x) {
  identity_document out;
  out.repo = repo;
  const auto is_plc = !document_is_foreign(repo);
  if (x && is_plc)
    out.date = x->date;
  if (!x) {
    out.doc = x.error();
    // A redirect, or a server without that name, decides nothing about it.
    if ((is_plc && x.error().code == ec::invalid_argument)
        || x.error().code == ec::not_found)
      out.doc = fail(ec::unreachable, x.error().context);
  } else if (says_gone(repo, x->status, x->body)) {
    out.gone = true;
  } else if (x->status == 404) {
    // Other services also answer 404 for what they do not have.
    out.is_foreign
      = is_plc && x->body.find("not registered") == std::string_view::npos;
    out.doc = fail(ec::not_found, out.is_foreign
                                    ? "the directory answers HTTP 404"
                                    : "the DID is not registered");
  } else if (x->status != 200) {
    out.doc = fail(ec::unreachable, x->status_text());
    out.limited = x->pause();
  } else {
    out.doc = atproto::parse_did_document(x->body, repo);
  }
  // A directory that sends no document of the DID at all has not answered as
  // one, so this decides nothing about the DID.
  const auto why = out.doc.error();
  if (is_plc
      && (why.code == ec::malformed || why.code == ec::verification_failed))
    out.doc = fail(ec::unreachable, why.context);
  return out;
}

/// What a look-up shows about the directory.
struct document_outcome {
  look_up_fault fault = look_up_fault::none;
  std::string text{};

  bool is_unknown() const noexcept {
    return fault == look_up_fault::unknown || fault == look_up_fault::foreign;
  }

  /// The fault of an unknown DID: `lost` when the store has its document.
  look_up_fault fault_beside(
    const std::optional<storage::identity_row>& row) const noexcept {
    return row && !row->tombstoned ? look_up_fault::lost : fault;
  }
};

inline document_outcome outcome_of(const identity_document& x) {
  using enum look_up_fault;
  const auto why = x.doc.error();
  const auto text = to_string(why);
  if (x.limited)
    return {limited, text};
  if (why.code == ec::unreachable)
    return {unreachable, text};
  if (why.code == ec::not_found && x.is_foreign)
    return {foreign, text + ", in words that no directory uses"};
  if (why.code == ec::not_found)
    return {unknown, text};
  if (!x.doc)
    return {unusable, text};
  if (x.gone)
    return {unusable, "the DID is tombstoned"};
  if (x.doc->signing_key.empty())
    return {unusable, "the document has no usable signing key"};
  if (x.doc->pds.empty())
    return {unusable, "the document names no PDS"};
  return {};
}

/// Notes in `out` why the answer is no page of the export, if it is none.
inline void note_refusal(const result<lookup_answer>& x, export_page& out) {
  if (!x) {
    out.operations = x.error();
  } else if (x->status != 200) {
    out.operations = fail(ec::unreachable, x->status_text());
    out.limited = x->pause();
  }
}

/// Who is asked first for the owner of a handle. A resolver is also the last.
enum class handle_source : uint8_t { none, resolver, dns, own_host };

/// @param resolver One is configured.
/// @param tests The node is in a test network.
inline handle_source source_of(std::string_view handle, bool resolver,
                               bool tests) noexcept {
  // It can exist only in a test network (protocol-coverage.md 0.6).
  if (handle.ends_with(".test") && !tests)
    return handle_source::none;
  if (resolver)
    return handle_source::resolver;
  // HTTP alone serves these, not DNS (protocol-coverage.md 8.9).
  return handle.ends_with(".bsky.social") ? handle_source::own_host
                                          : handle_source::dns;
}

/// What the TXT values of a handle's name say; none: they name no DID, so the
/// handle's own host is asked (protocol-coverage.md 8.7).
inline std::optional<result<atproto::did>>
owner_in_dns(const result<std::vector<std::string>>& values) {
  std::set<std::string> found;
  if (values)
    for (const auto& value : *values)
      if (value.starts_with("did="))
        found.insert(value.substr(4));
  if (found.empty())
    return std::nullopt;
  auto owner = atproto::did::parse(*found.begin());
  if (found.size() > 1 || !owner)
    owner = fail(ec::not_found, "DNS names no single DID");
  return owner;
}

/// Reads the owner from the well-known file of a handle's host.
/// @param dns How the question to DNS failed, if it was asked and failed.
inline result<atproto::did> owner_in_file(const result<lookup_answer>& x,
                                          const error& dns) {
  result<atproto::did> out
    = x ? atproto::did::parse(trimmed(x->body)) : x.error();
  if (x && x->status / 100 != 2)
    out = fail(x->status / 100 == 5 ? ec::unreachable : ec::not_found,
               x->status_text());
  else if (x && !out)
    out = fail(ec::not_found, "no DID in the file");
  const auto is_silent = dns.code != ec::none && dns.code != ec::not_found;
  if (!out && out.error().code == ec::not_found && is_silent)
    out = dns; // It may have the handle all the same.
  return out;
}

/// Reads a resolver's answer for `out.handle`.
inline void take_resolved(const result<lookup_answer>& x,
                          identity_handle& out) {
  out.resolver = resolver_answer::none;
  // Nothing else follows for its own name.
  out.owner = fail(ec::unreachable, x.error().context);
  if (!x)
    return;
  const auto body = parse_object(x->body);
  const auto is_away = x->status >= 500 || x->status == 429;
  const auto foreign = x->status_text() + ", in words that no resolver uses";
  out.owner = fail(ec::unreachable, is_away ? x->status_text() : foreign);
  if (is_away || !body)
    return;
  out.owner = atproto::did::parse(text_of(*body, "did"));
  const auto is_given = out.owner || x->status == 200 || x->status == 400
                        || text_of(*body, "error") == "HandleNotFound";
  if (is_given)
    out.resolver = resolver_answer::given;
  if (!out.owner)
    out.owner = fail(ec::not_found, is_given ? "no such handle" : foreign);
}

} // namespace weir::actors
