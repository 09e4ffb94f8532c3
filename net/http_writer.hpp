#pragma once

#include "net/http_types.hpp"

#include <string>
#include <string_view>

namespace weir::net {

/// Writes a head. When a part is malformed (a name that is no token, a value
/// with a control byte) the result is empty, so that no foreign text can end a
/// line (hostile-inputs.md 2.2.5). It is our own, since Beast's serializer
/// needs a list of fields and takes four times as long (ADR 25).
class http_writer {
public:
  http_writer(std::string_view method, std::string_view target);

  /// A response, with Beast's phrase for its status.
  explicit http_writer(int status);

  void add(std::string_view name, std::string_view value);

  void add(const http_headers& fields) {
    for (const auto& x : fields)
      add(x.name, x.value);
  }

  /// The head with its empty line; empty when a part was malformed.
  std::string take();

private:
  std::string text_;
  bool good_ = true;
};

} // namespace weir::net
