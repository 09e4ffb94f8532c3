#include "wire/filter.hpp"

#include "atproto/identifiers.hpp"
#include "wire/limits.hpp"
#include "wire/nsid_case.hpp"

#include <algorithm>

namespace weir::wire {

namespace {

error bad_pattern(const std::string& pattern, std::string_view why) {
  return fail(ec::invalid_argument,
              "collection pattern \""
                + pattern.substr(0, limits::named_pattern_bytes_max) + "\" "
                + std::string{why});
}

/// The reason why a pattern with capital letters in its authority is refused;
/// empty when it has none.
std::string meant_instead(const std::string& pattern) {
  const auto meant = with_small_authority(pattern);
  return meant
           ? "has large letters in its domain, as no record has; did you mean "
               + meant->substr(0, limits::named_pattern_bytes_max) + "?"
           : std::string{};
}

/// True when names can begin with the prefix, such as `a.b.`.
bool valid_prefix(const std::string& prefix) {
  return atproto::valid_nsid(prefix + "x.y");
}

} // namespace

result<collection_filter>
collection_filter::parse(std::vector<std::string> patterns) {
  if (patterns.size() > limits::filter_patterns_max)
    return fail(ec::limit_reached,
                "more than " + std::to_string(limits::filter_patterns_max)
                  + " collection patterns");
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  collection_filter out;
  bool everything = false;
  for (const auto& pattern : patterns) {
    if (pattern == "*") {
      everything = true;
    } else if (pattern.ends_with(".*")) {
      auto prefix = pattern.substr(0, pattern.size() - 1);
      if (!valid_prefix(prefix))
        return bad_pattern(pattern, "has no names before its star");
      if (const auto why = meant_instead(pattern); !why.empty())
        return bad_pattern(pattern, why);
      out.prefixes_.push_back(std::move(prefix));
    } else if (pattern.find('*') != std::string::npos) {
      return bad_pattern(pattern, "may have one star, after its last dot");
    } else if (!atproto::valid_nsid(pattern)) {
      return bad_pattern(pattern, "is not the name of a collection, such as "
                                  "app.bsky.feed.post, or app.bsky.* for all "
                                  "below");
    } else if (const auto why = meant_instead(pattern); !why.empty()) {
      return bad_pattern(pattern, why);
    } else {
      out.exact_.push_back(pattern);
    }
  }
  if (everything) {
    out.exact_.clear();
    out.prefixes_.clear();
  }
  out.patterns_ = std::move(patterns);
  return out;
}

bool collection_filter::matches(std::string_view nsid) const noexcept {
  if (matches_all())
    return true;
  const auto has_prefix = [&](const std::string& prefix) {
    return nsid.starts_with(prefix);
  };
  return std::binary_search(exact_.begin(), exact_.end(), nsid,
                            std::less<std::string_view>{})
         || std::any_of(prefixes_.begin(), prefixes_.end(), has_prefix);
}

} // namespace weir::wire
