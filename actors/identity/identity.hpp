#pragma once

#include "actors/identity/export_machine.hpp"
#include "actors/identity/identity_machine.hpp"
#include "actors/support/context.hpp"

#include <memory>
#include <optional>

namespace weir::actors {

/// Makes the look-ups of an IDENTITY and sends it the answers.
/// `make_identity_network` is the real one.
class identity_network {
public:
  virtual ~identity_network() = default;

  virtual void fetch_document(const atproto::did& repo, identity_actor to) = 0;

  /// Fetches a page of the directory's export and sends it as an `export_page`:
  /// at most `lines` operations after the number `after`.
  virtual void fetch_export(uint64_t after, size_t lines, identity_actor to) = 0;

  virtual void resolve_handle(const atproto::did& repo,
                              const std::string& handle, identity_actor to)
    = 0;
};

/// Spawns the IDENTITY of a node.
///
/// Lifetime: from NODE; when it dies the program ends. The store is its cache.
/// @param exported None: the export is neither read nor removed.
identity_actor spawn_identity(caf::actor_system& system, context_ptr shared,
                              identity_options options,
                              std::shared_ptr<identity_network> network,
                              std::optional<export_options> exported = {});

} // namespace weir::actors
