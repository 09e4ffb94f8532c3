#include "base/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <deque>
#include <mutex>
#include <sstream>

namespace weir {

namespace {

struct sample {
  metric value;
  std::string label_key;
  std::string label_value;
  /// If set, gives the value whenever the page is made.
  std::function<double()> read;
};

struct family {
  std::string name;
  std::string help;
  prometheus::MetricType type = prometheus::MetricType::Counter;
  std::deque<sample> samples; ///< A deque, so that references stay valid.
};

double current(const sample& x) {
  return x.read ? x.read() : static_cast<double>(x.value.value());
}

prometheus::MetricFamily to_prometheus(const family& x) {
  prometheus::MetricFamily out;
  out.name = x.name;
  out.help = x.help;
  out.type = x.type;
  for (const auto& s : x.samples) {
    prometheus::ClientMetric made;
    if (!s.label_key.empty())
      made.label.push_back({s.label_key, s.label_value});
    if (x.type == prometheus::MetricType::Counter)
      made.counter.value = current(s);
    else
      made.gauge.value = current(s);
    out.metric.push_back(std::move(made));
  }
  return out;
}

} // namespace

struct metrics_registry::impl {
  mutable std::mutex mutex;
  std::deque<family> families;

  sample& find(const std::string& name, const std::string& help,
               prometheus::MetricType type, const std::string& label_key,
               const std::string& label_value) {
    const std::lock_guard guard{mutex};
    family* home = nullptr;
    for (auto& x : families)
      if (x.name == name)
        home = &x;
    if (home == nullptr)
      home = &families.emplace_back(family{name, help, type, {}});
    for (auto& x : home->samples)
      if (x.label_key == label_key && x.label_value == label_value)
        return x;
    auto& made = home->samples.emplace_back();
    made.label_key = label_key;
    made.label_value = label_value;
    return made;
  }
};

metrics_registry::metrics_registry() : impl_(std::make_unique<impl>()) {}

metrics_registry::~metrics_registry() = default;

metric& metrics_registry::counter(const std::string& name,
                                  const std::string& help,
                                  const std::string& label_key,
                                  const std::string& label_value) {
  return impl_
    ->find(name, help, prometheus::MetricType::Counter, label_key, label_value)
    .value;
}

void metrics_registry::counter(const std::string& name, const std::string& help,
                               std::function<double()> read) {
  impl_->find(name, help, prometheus::MetricType::Counter, {}, {}).read
    = std::move(read);
}

metric& metrics_registry::gauge(const std::string& name,
                                const std::string& help,
                                const std::string& label_key,
                                const std::string& label_value) {
  return impl_
    ->find(name, help, prometheus::MetricType::Gauge, label_key, label_value)
    .value;
}

void metrics_registry::gauge(const std::string& name, const std::string& help,
                             std::function<double()> read) {
  gauge(name, help, {}, {}, std::move(read));
}

void metrics_registry::gauge(const std::string& name, const std::string& help,
                             const std::string& label_key,
                             const std::string& label_value,
                             std::function<double()> read) {
  impl_->find(name, help, prometheus::MetricType::Gauge, label_key, label_value)
    .read
    = std::move(read);
}

std::string metrics_registry::render() const {
  std::vector<prometheus::MetricFamily> out;
  {
    const std::lock_guard guard{impl_->mutex};
    for (const auto& x : impl_->families)
      out.push_back(to_prometheus(x));
  }
  std::ostringstream page;
  prometheus::TextSerializer{}.Serialize(page, out);
  return page.str();
}

} // namespace weir
