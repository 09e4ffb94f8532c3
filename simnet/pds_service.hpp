#pragma once

#include "net/http_server.hpp"
#include "simnet/site.hpp"
#include "simnet/sync_reads.hpp"

namespace weir::simnet {

/// One host: repositories, records, handles, and the stream of its accounts. It
/// answers as the reference server does.
///
/// # Ownership and threads
/// Borrows the site, which outlives it. Any thread.
class pds_service final : public net::http_service {
public:
  pds_service(const site& where, size_t host);

  void on_request(net::incoming_request request,
                  net::responder answer) override;
  void on_upgrade(net::incoming_request request, net::upgrader answer) override;

private:
  net::http_reply read(const net::incoming_request& request,
                       std::string_view method) const;
  std::optional<net::http_reply> misbehave(const net::incoming_request& request,
                                           std::string_view method) const;
  /// @tparam Answer A responder or an upgrader.
  template <class Answer>
  void never_answer(const Answer& x) const;
  void send_repo(const net::incoming_request& request,
                 const net::responder& answer) const;
  /// @param whole Nothing follows the body, so it may be compressed.
  net::http_reply get_repo(const net::incoming_request& request,
                           bool whole) const;
  net::http_reply list(const net::incoming_request& request) const;
  net::http_reply repo_status(const account_view& x) const;
  net::http_reply get_proof(const net::incoming_request& request) const;

  const site& site_;
  const size_t host_;
  const lens look_;
};

} // namespace weir::simnet
