#include "actors/repo/identity_doubt.hpp"

#include "base/limits_doubt.hpp"

#include <algorithm>

namespace weir::actors {

void identity_doubt::hold(waiting_frame word) {
  forget_word(word.frame.at.upstream);
  if (words_.size() == limits::held_words_max) {
    words_.erase(words_.begin());
    regrets_ = true; // It may have been the host's.
  }
  // A small part of what was read at once from a socket.
  word.frame.bytes = shared_bytes::copy_of(word.frame.bytes.view());
  words_.push_back(std::move(word));
}

void identity_doubt::forget_word(uint32_t upstream) {
  std::erase_if(words_, [upstream](const waiting_frame& x) {
    return x.frame.at.upstream == upstream;
  });
}

} // namespace weir::actors
