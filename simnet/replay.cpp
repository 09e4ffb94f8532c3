#include "simnet/replay.hpp"

#include "atproto/json_fields.hpp"
#include "simnet/sync_reads.hpp"

#include <boost/json.hpp>

#include <utility>

namespace weir::simnet {

namespace {

namespace json = boost::json;

/// A number from 0 in a JSON object; nothing when it is something else.
std::optional<double> read_number(std::string_view body, const char* name) {
  const auto parsed = atproto::parse_object(body);
  const auto* value = parsed ? parsed->if_contains(name) : nullptr;
  json::error_code error;
  const auto out = value ? value->to_number<double>(error) : -1.0;
  return !error && out >= 0 ? std::optional{out} : std::nullopt;
}

class replay_control final : public net::http_service {
public:
  replay_control(corpus& source, const std::shared_ptr<pacer>& pace)
    : source_(source), pacer_(pace) {}

  void on_request(net::incoming_request request,
                  net::responder answer) override {
    answer.send(reply(request));
  }

private:
  net::http_reply reply(const net::incoming_request& request) {
    json::object out;
    if (request.method == "POST") {
      const auto rate = request.path == "/traffic";
      const auto number = read_number(request.body, rate ? "rate" : "count");
      if (!number)
        return invalid_request("rate or count is a number from 0");
      if (rate)
        pacer_->set_rate(*number);
      else
        out["made"] = source_.play(static_cast<size_t>(*number));
    }
    out["accounts"] = source_.accounts();
    out["events"] = source_.events();
    out["played"] = source_.played();
    out["rate"] = pacer_->rate();
    out["behind"] = pacer_->behind();
    return ok_reply(out);
  }

  corpus& source_;
  const std::shared_ptr<pacer>& pacer_;
};

} // namespace

result<std::unique_ptr<replay>> replay::open(const std::string& path,
                                             const network_options& options) {
  auto source = corpus::open(path, options.relay);
  if (!source)
    return source.error();
  return std::unique_ptr<replay>{new replay{std::move(*source), options}};
}

replay::replay(std::unique_ptr<corpus> source, const network_options& options)
  : corpus_(std::move(source)), requests_(*options.time),
    servers_(
      *corpus_, requests_, options,
      [this](size_t n) {
        return corpus_->play(n);
      },
      [this](const std::shared_ptr<pacer>& pace) {
        return std::make_shared<replay_control>(*corpus_, pace);
      }) {}

} // namespace weir::simnet
