#include "actors/repo/identity_doubt.hpp"

#include "actors/repo/limits.hpp"

#include <algorithm>

namespace weir::actors {

void identity_doubt::hold(const account_sources::saying& word) {
  forget_word(word.at.upstream);
  if (words_.size() == limits::held_words_max) {
    words_.erase(words_.begin());
    regrets_ = true; // The dropped event may have been the host's.
  }
  words_.push_back(word);
}

void identity_doubt::forget_word(uint32_t upstream) {
  std::erase_if(words_, [upstream](const account_sources::saying& x) {
    return x.at.upstream == upstream;
  });
}

} // namespace weir::actors
