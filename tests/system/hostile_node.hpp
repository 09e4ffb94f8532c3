#pragma once

#include "apps/weir/web_client.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tests {

/// What a node says of one repo.
struct told_repo {
  std::string status; ///< Empty: not tracked.
  std::string error;
  std::string rev;
  uint64_t records = 0;
  uint64_t tries = 0; ///< That failed, in a row.
};

/// Where a node may connect: with what tests are on loopback, or as a node that
/// nobody configured does.
enum class reach { private_too, public_only };

/// `weir run` among hostile hosts, with short waits.
///
/// # Ownership
/// The process ends with the object.
class hostile_node {
public:
  /// @param upstreams As `--upstream` takes them.
  /// @param plc The directory, which resolves handles as well; not for one that
  ///            reaches public hosts only.
  /// @param more Further options; they win over the usual ones.
  hostile_node(const std::vector<std::string>& upstreams,
               const std::string& plc, std::vector<std::string> more = {},
               reach where = reach::private_too);

  /// Ends it in order, and starts it again with what it has on disk.
  /// @param away Runs while it is down.
  void restart(const std::function<void()>& away);

  /// Ends it in order, and starts it again with other values of these options.
  void restart_with(const std::vector<std::string>& options);

  /// The same without any order.
  void kill(const std::function<void()>& away);

  /// Ends it in order, and starts it again to die at this point, as
  /// base/crash_point.hpp names it; then once more.
  /// @param meanwhile Makes it come there.
  /// @param away Runs while it is down.
  void die_at(const std::string& point, const std::function<void()>& meanwhile,
              const std::function<void()>& away);

  /// Tracks these.
  void add(const std::vector<atproto::did>& repos);

  void remove(const std::vector<atproto::did>& repos);

  told_repo repo(const atproto::did& did);

  /// Its proven handle; `handle.invalid` when there is none.
  std::string handle(const atproto::did& did);

  /// Answer of `/status`.
  std::string status() { return get(at_.operations + "/status"); }

  /// Waits until the status is this one; what it is then.
  told_repo await(const atproto::did& did, std::string_view status);

  /// Waits until a fetch of it has failed.
  told_repo await_failure(const atproto::did& did);

  /// Sum of all metrics whose line begins so.
  uint64_t metric(std::string_view line);

  /// All of them.
  std::string metrics() { return get(at_.operations + "/metrics"); }

  /// Waits until it is at least that much.
  bool await_metric(std::string_view line, uint64_t least);

  /// Durable operations so far.
  uint64_t log_end();

  bool is_healthy();

  std::string data_dir() const { return dir_.at("data"); }

  const std::string& data_url() const noexcept { return at_.data; }
  const std::string& operations_url() const noexcept { return at_.operations; }

  uint16_t data_port() const;

  /// Lets the process work, or stops it where it is.
  void run(bool does) const { process_->send(does ? SIGCONT : SIGSTOP); }

  std::string log() const { return process_->errors(); }

  size_t resident_bytes() const { return process_->resident_bytes(); }

  size_t peak_bytes() const { return process_->peak_bytes(); }

  std::chrono::nanoseconds cpu_time() const { return process_->cpu_time(); }

private:
  std::string get(const std::string& url);
  void name_repos(const std::string& path,
                  const std::vector<atproto::did>& repos);

  void start(const std::vector<std::string>& environment = {});

  temp_dir dir_;
  std::vector<std::string> arguments_;
  std::unique_ptr<program> process_;
  node_addresses at_;
  std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
};

} // namespace weir::tests
