#include "bench/outside.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace weir::bench {

namespace {

struct pipe_ends {
  int read = -1;
  int write = -1;
};

result<pipe_ends> make_pipe() {
  std::array<int, 2> out{};
  if (pipe2(out.data(), O_CLOEXEC) != 0)
    return fail(ec::unreachable, "no pipe can be made");
  return pipe_ends{out[0], out[1]};
}

int spawn_self(std::string corpus, const pipe_ends& in, const pipe_ends& out,
               pid_t& id) {
  constexpr const char* self = "/proc/self/exe";
  std::string name = "weir-bench";
  std::string command = outside_command;
  std::array<char*, 4> arguments{name.data(), command.data(), corpus.data(),
                                 nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  const auto bad
    = posix_spawn(&id, self, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return bad;
}

} // namespace

result<std::unique_ptr<outside>>
outside::start(const std::filesystem::path& corpus) {
  const auto in = make_pipe();
  if (!in)
    return in.error();
  const auto out = make_pipe();
  if (!out)
    return out.error();
  std::unique_ptr<outside> made{new outside};
  made->orders_ = in->write;
  made->answers_ = out->read;
  const auto bad = spawn_self(corpus.string(), *in, *out, made->id_);
  close(in->read);
  close(out->write);
  if (bad != 0) {
    made->id_ = -1;
    return fail(ec::unreachable, "the network's process cannot start");
  }
  const auto urls = made->read_line();
  if (!urls)
    return urls.error();
  const auto space = urls->find(' ');
  made->plc_url_ = urls->substr(0, space);
  made->relay_url_ = urls->substr(space + 1);
  return made;
}

outside::~outside() {
  close(orders_); // The process ends when its input ends.
  if (id_ > 0)
    waitpid(id_, nullptr, 0);
  close(answers_);
}

result<void> outside::attach(const std::string& data_url) {
  const auto answer = order("attach " + data_url);
  if (!answer)
    return answer.error();
  if (*answer != "ok")
    return fail(ec::unreachable, "cannot attach: " + *answer);
  return {};
}

result<std::string> outside::order(const std::string& line) {
  const auto text = line + "\n";
  if (write(orders_, text.data(), text.size())
      != static_cast<ssize_t>(text.size()))
    return fail(ec::unreachable, "the network's process is gone");
  return read_line();
}

result<std::string> outside::read_line() {
  std::string out;
  for (char c = 0;;) {
    const auto n = read(answers_, &c, 1);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return fail(ec::unreachable, "the network's process is gone");
    if (c == '\n')
      return out;
    out += c;
  }
}

} // namespace weir::bench
