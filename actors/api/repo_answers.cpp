#include "actors/api/repo_answers.hpp"

#include "actors/api/answers.hpp"
#include "actors/api/completeness_answers.hpp"
#include "actors/api/log_request.hpp"
#include "actors/api/operation_answers.hpp"
#include "actors/api/record_answers.hpp"

namespace weir::actors {

namespace {

using cancel_function = std::function<bool()>;

net::http_reply answer_stream(const context& shared,
                              const net::incoming_request& x,
                              const atproto::did& repo,
                              const cancel_function& cancelled) {
  const auto request = parse_stream_request(x);
  return request ? stream_reply(shared, repo, *request, cancelled)
                 : problem(request.error());
}

net::http_reply answer_operation(const context& shared, const matched_route& to,
                                 const net::incoming_request& x,
                                 const atproto::did& repo,
                                 const cancel_function& cancelled) {
  const auto scope = parse_scope(to.parameter("collection"));
  if (!scope)
    return problem(scope.error());
  const auto index = parse_index(to.parameter("index"));
  if (!index)
    return problem(index.error());
  const auto content = parse_content(x);
  if (!content)
    return problem(content.error());
  return one_operation_reply(shared, repo, *scope, *index, *content, cancelled);
}

net::http_reply answer_records(const context& shared,
                               const net::incoming_request& x,
                               const atproto::did& repo) {
  const auto request = parse_records_request(x);
  return request ? records_reply(shared, repo, *request)
                 : problem(request.error());
}

net::http_reply answer_record(const context& shared, const matched_route& to,
                              const net::incoming_request& x,
                              const atproto::did& repo,
                              const cancel_function& cancelled) {
  const auto path
    = parse_record_path(to.parameter("collection"), to.parameter("rkey"));
  if (!path)
    return problem(path.error());
  const auto* text = x.parameter("at");
  if (text == nullptr)
    return record_reply(shared, repo, *path);
  const auto rev = atproto::tid::parse(*text);
  if (!rev || !rev->defined())
    return problem(fail(ec::invalid_argument, "at must be a rev"));
  return past_record_reply(shared, repo, *path, *rev, cancelled);
}

} // namespace

net::http_reply repo_answer(const store_readers& store,
                            const api_environment& env, const matched_route& to,
                            const net::incoming_request& x,
                            const atproto::did& repo,
                            const std::function<bool()>& cancelled) {
  switch (to.to->what) {
    case action::completeness:
      return completeness_reply(store, env, repo);
    case action::stream_operations:
      return answer_stream(*env.shared, x, repo, cancelled);
    case action::one_operation:
      return answer_operation(*env.shared, to, x, repo, cancelled);
    case action::records:
      return answer_records(*env.shared, x, repo);
    case action::one_record:
      return answer_record(*env.shared, to, x, repo, cancelled);
    default:
      return repo_reply(store, env, repo, to.to->what == action::info);
  }
}

} // namespace weir::actors
