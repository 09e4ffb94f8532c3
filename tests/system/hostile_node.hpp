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

/// What a node reports about one repo.
struct told_repo {
  std::string status; ///< Empty: not tracked.
  std::string error;
  std::string rev;
  uint64_t records = 0;
  uint64_t tries = 0; ///< The number of failed tries in a row.
};

/// Where a node may connect: also to loopback, where tests are, or only to
/// public addresses, as by default.
enum class reach { private_too, public_only };

/// `weir run` that follows hostile hosts, with short waits.
///
/// # Ownership
/// The process ends with the object.
class hostile_node {
public:
  /// @param upstreams In the form of the option `--upstream`.
  /// @param plc The directory, which also resolves handles; not used by a node
  /// that reaches public hosts only.
  /// @param more Further options, which override the usual ones.
  hostile_node(const std::vector<std::string>& upstreams,
               const std::string& plc, std::vector<std::string> more = {},
               reach where = reach::private_too);

  /// Stops it in order and starts it again on the same data.
  /// @param away Runs while the node is down.
  void restart(const std::function<void()>& away);

  /// Stops it in order and starts it again with new values of these options.
  void restart_with(const std::vector<std::string>& options);

  /// The same with SIGKILL instead of an orderly stop.
  void kill(const std::function<void()>& away);

  /// Stops it in order and starts it again so that it dies at this point, named
  /// as in base/crash_point.hpp. Then starts it once more.
  /// @param meanwhile Makes the node reach the point.
  /// @param away Runs while the node is down.
  void die_at(const std::string& point, const std::function<void()>& meanwhile,
              const std::function<void()>& away);

  /// Tracks these repos.
  void add(const std::vector<atproto::did>& repos);

  void remove(const std::vector<atproto::did>& repos);

  told_repo repo(const atproto::did& did);

  /// The verified handle of a repo; `handle.invalid` when it has none.
  std::string handle(const atproto::did& did);

  /// The answer of `/status`.
  std::string status() { return get(at_.operations + "/status"); }

  /// Waits until the repo has this status. Returns its last state.
  told_repo await(const atproto::did& did, std::string_view status);

  /// Waits until a fetch of the repo has failed.
  told_repo await_failure(const atproto::did& did);

  /// The sum of all metrics whose line begins with `line`.
  uint64_t metric(std::string_view line);

  /// The answer of `/metrics`.
  std::string metrics() { return get(at_.operations + "/metrics"); }

  /// Waits until the metric is at least `least`.
  bool await_metric(std::string_view line, uint64_t least);

  /// The number of durable operations so far.
  uint64_t log_end();

  bool is_healthy();

  std::string data_dir() const { return dir_.at("data"); }

  const std::string& data_url() const noexcept { return at_.data; }
  const std::string& operations_url() const noexcept { return at_.operations; }

  uint16_t data_port() const;

  /// Continues the process, or stops it.
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
