#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace weir {

/// One number on the `/metrics` page. Safe from any thread, with relaxed memory
/// order.
class metric {
public:
  void add(uint64_t n = 1) noexcept {
    value_.fetch_add(n, std::memory_order_relaxed);
  }

  void set(uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }

  uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<uint64_t> value_{0};
};

/// All metrics of a process in the Prometheus text format. Names have the form
/// `weir_<actor>_<what>_<unit>[_total]`. DIDs, record keys and addresses are
/// never labels, since outsiders could make any number of them.
///
/// # Ownership and threads
/// `counter` and `gauge` return references that live as long as the registry.
/// Registering and rendering take a lock; counting does not.
class metrics_registry {
public:
  metrics_registry();
  ~metrics_registry();

  metrics_registry(const metrics_registry&) = delete;
  metrics_registry& operator=(const metrics_registry&) = delete;

  /// @param label_key, label_value The one label of the number; empty for none.
  metric& counter(const std::string& name, const std::string& help,
                  const std::string& label_key = {},
                  const std::string& label_value = {});

  /// A counter whose value is read when the page is made.
  void counter(const std::string& name, const std::string& help,
               std::function<double()> read);

  metric& gauge(const std::string& name, const std::string& help,
                const std::string& label_key = {},
                const std::string& label_value = {});

  /// A gauge whose value is read when the page is made.
  void gauge(const std::string& name, const std::string& help,
             std::function<double()> read);
  void gauge(const std::string& name, const std::string& help,
             const std::string& label_key, const std::string& label_value,
             std::function<double()> read);

  /// The whole page as text.
  std::string render() const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir
