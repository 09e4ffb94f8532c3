#pragma once

#include "actors/support/store_readers.hpp"
#include "messages/interfaces.hpp"
#include "messages/journal.hpp"

namespace weir::actors {

/// What a REPO has a READER do; `to` gets the answer as a message.

/// The rows of a repo: `repo_loaded`.
reader_job load_rows(const atproto::did& repo, repo_actor to);

/// The next part of what its sync buffer holds on disk behind the number
/// `after`: `repo_buffer_page`.
reader_job load_buffer_page(const atproto::did& repo, uint64_t after,
                            repo_actor to);

} // namespace weir::actors
