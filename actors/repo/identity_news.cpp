#include "actors/repo/identity_news.hpp"

namespace weir::actors {

void identity_news::take(const identity_answer& x,
                         const identity_view::standing& heard, repo_turn& t) {
  if (x.fact) {
    take_document(x, heard, t);
    return;
  }
  if (identity_.take_failure(x, t))
    gate_.give_up(t);
  identity_.go_on_wanting(x, heard.last, words_.waits(), t);
  fetch_.go_on_without_document(x.fact.error(), t);
}

void identity_news::adopt(identity_answer x, repo_turn& t) {
  if (identity_.adopt(x, t))
    take(x, identity_.hear(x), t);
}

void identity_news::take_document(const identity_answer& x,
                                  const identity_view::standing& heard,
                                  repo_turn& t) {
  const auto differs = identity_.learn(*x.fact, heard.last, t);
  if (differs.host)
    fetch_.move(differs.moved, t);
  account_.hear_directory(*x.fact, t);
  if (differs.key_or_host) {
    sync_.take_new_identity(t);
    if (!x.fact->tombstoned) // Which is a doubt itself.
      identity_.end_dispute();
  }
  identity_.plan_next(x, heard.last, differs.had_handle, t);
  words_.hear_document(x, t);
  if (identity_.ends_doubt(heard, t))
    gate_.open(t);
  if (heard.last)
    identity_.end_look_up(t);
  question_.ask(t);
  identity_.try_refresh(t);
  fetch_.go_on(t);
}

} // namespace weir::actors
