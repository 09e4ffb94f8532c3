#pragma once

#include "atproto/signature.hpp"
#include "base/bytes.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The frames of the public network that come with Jetstream's source.

namespace weir::tests {

/// Path of the corpus below the shared folder, for WEIR_VECTORS.
inline constexpr std::string_view jetstream_corpus
  = "vectors/jetstream/internal/corpus/testdata";

/// All frames, in the order of their numbers.
std::vector<shared_bytes>
read_jetstream_frames(const std::filesystem::path& folder);

/// The signing keys of all accounts, by DID.
std::map<std::string, atproto::public_key>
read_jetstream_keys(const std::filesystem::path& folder);

} // namespace weir::tests
