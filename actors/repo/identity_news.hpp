#pragma once

#include "actors/repo/document_gate.hpp"
#include "actors/repo/fetch_session.hpp"

namespace weir::actors {

/// Passes an answer of IDENTITY to the parts of a repo, in the order that they
/// need.
class identity_news {
public:
  identity_news(account_rules& account, sync_state& sync,
                identity_view& identity, host_question& question,
                host_words& words, fetch_session& fetch,
                document_gate& gate) noexcept
    : account_(account), sync_(sync), identity_(identity), question_(question),
      words_(words), fetch_(fetch), gate_(gate) {}

  void take(const identity_answer& x, const identity_view::standing& heard,
            repo_turn& t);

  /// Takes the answer that SUPERVISOR received when it looked for the host of a
  /// fetch.
  void adopt(identity_answer x, repo_turn& t);

private:
  void take_document(const identity_answer& x,
                     const identity_view::standing& heard, repo_turn& t);

  account_rules& account_;
  sync_state& sync_;
  identity_view& identity_;
  host_question& question_;
  host_words& words_;
  fetch_session& fetch_;
  document_gate& gate_;
};

} // namespace weir::actors
