#include "tests/support/jetstream_corpus.hpp"

#include "atproto/did_document.hpp"
#include "tests/support/split_frames.hpp"
#include "tests/support/zstd_file.hpp"

#include <boost/json.hpp>

namespace weir::tests {

namespace json = boost::json;

using namespace atproto;

std::vector<shared_bytes>
read_jetstream_frames(const std::filesystem::path& folder) {
  const auto all = read_zstd_file(folder / "frames.bin.zst");
  return split_frames(as_bytes(all), std::endian::little);
}

std::map<std::string, public_key>
read_jetstream_keys(const std::filesystem::path& folder) {
  std::map<std::string, public_key> out;
  const auto docs = json::parse(read_zstd_file(folder / "did_docs.json.zst"));
  for (const auto& [id, doc] : docs.as_object()) {
    const auto who = did::parse(id).value();
    const auto parsed = parse_did_document(json::serialize(doc), who).value();
    out.emplace(who.str(),
                public_key::from_multikey(parsed.signing_key).value());
  }
  return out;
}

} // namespace weir::tests
