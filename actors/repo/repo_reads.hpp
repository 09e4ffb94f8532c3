#pragma once

#include "actors/support/store_readers.hpp"
#include "messages/interfaces.hpp"
#include "messages/journal.hpp"

namespace weir::actors {

/// A job for a READER: loads the rows of a repo and sends them to its REPO as
/// `repo_loaded`.
reader_job load_rows(const atproto::did& repo, repo_actor to);

/// A job for a READER: loads one page of a repo's sync buffer from disk,
/// beginning after the number `after`, and sends it to its REPO as
/// `repo_buffer_page`.
reader_job load_buffer_page(const atproto::did& repo, uint64_t after,
                            repo_actor to);

} // namespace weir::actors
