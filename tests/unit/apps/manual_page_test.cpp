#include "apps/demo/demo.hpp"
#include "apps/weir/command_tree.hpp"
#include "apps/weir/commands.hpp"
#include "apps/weir/manual_page.hpp"
#include "apps/weir/option_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

// Compares the manual pages and the completion with the help of the same
// commands, with the library's own formatting.
namespace weir::apps {

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class ManualPageTest : public testing::Test {
protected:
  ManualPageTest() { add_all_commands(app, status, add_demo); }

  int status = all_good;
  CLI::App app;
};

/// Every flag in the help of a command.
std::set<std::string> flags_in_help(const CLI::App& command) {
  const auto help = command.help();
  static const std::regex flag{"(^|[ ,])(--[a-z][a-z0-9-]*)[ ,=]"};
  std::set<std::string> out;
  for (std::sregex_iterator x{help.begin(), help.end(), flag}, end; x != end;
       ++x)
    out.insert((*x)[2]);
  return out;
}

/// The text in roff's notation.
std::string in_roff(std::string text) {
  for (auto at = text.find('-'); at != std::string::npos;
       at = text.find('-', at + 2))
    text.replace(at, 1, "\\-");
  return text;
}

/// The text from the heading of a command to the next one.
std::string section_of(const std::string& manual, const CLI::App& command) {
  const auto begin = manual.find(".SS " + path_of(command) + "\n");
  if (begin == std::string::npos)
    return "";
  return manual.substr(begin, manual.find("\n.S", begin) - begin);
}

/// The words that bash offers after these.
std::vector<std::string> offers(const CLI::App& app,
                                const std::vector<std::string>& words) {
  auto script = make_bash_completion(app) + "\nCOMP_WORDS=(weir";
  for (const auto& x : words)
    script += " '" + x + "'";
  script += ")\nCOMP_CWORD=" + std::to_string(words.size())
            + "\n_weir\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  std::string quoted;
  for (const char c : script)
    quoted += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  auto* pipe = ::popen(("bash -c '" + quoted + "' 2>&1").c_str(), "r");
  std::vector<std::string> out;
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c != '\n') {
      line += static_cast<char>(c);
    } else if (!line.empty()) {
      out.push_back(std::exchange(line, ""));
    }
  }
  EXPECT_EQ(::pclose(pipe), 0);
  return out;
}

} // namespace

TEST_F(ManualPageTest, EveryCommandHasItsFlagsInItsOwnSection) {
  const auto manual = make_program_manual(app);
  size_t commands = 0;
  for (const auto* command : all_commands(app)) {
    if (command == &app)
      continue;
    ++commands;
    const auto section = section_of(manual, *command);
    ASSERT_NE(section, "") << path_of(*command);
    if (section.find("Its flags are those of") != std::string::npos)
      continue;
    for (const auto& flag : flags_in_help(*command))
      EXPECT_THAT(section, HasSubstr("\\fB" + in_roff(flag) + "\\fR"))
        << path_of(*command);
  }
  EXPECT_GE(commands, 17u);
}

TEST_F(ManualPageTest, EveryOptionIsAFlagOfRunAndHasItsDefault) {
  const auto run
    = section_of(make_program_manual(app), *app.get_subcommand("run"));
  const auto file = make_config_manual();
  for (const auto& x : all_options()) {
    EXPECT_THAT(run, HasSubstr("\\fB" + in_roff(x.flag()) + "\\fR")) << x.name;
    const auto begin = file.find(".TP\n\\fB" + std::string{x.name} + "\\fR\n");
    ASSERT_NE(begin, std::string::npos) << x.name;
    const auto text = file.substr(begin, file.find(".TP", begin + 3) - begin);
    EXPECT_THAT(text, HasSubstr(x.variable()));
    EXPECT_THAT(text, HasSubstr("Default: \\fB"));
  }
  EXPECT_THAT(file, HasSubstr("Must be a whole number from 1 to 256."));
  EXPECT_THAT(file, HasSubstr("Default: \\fB3\\fR. As a flag: "
                              "\\fB\\-\\-sync\\-parallelism\\fR."));
}

TEST_F(ManualPageTest, TheSameFlagsAreListedOnce) {
  const auto manual = make_program_manual(app);
  const auto* print = app.get_subcommand("config")->get_subcommand("print");
  EXPECT_THAT(section_of(manual, *print),
              HasSubstr("Its flags are those of \\fBweir run\\fR."));
}

TEST_F(ManualPageTest, BoundsAndDefaultsOfFlagsAreTold) {
  EXPECT_THAT(
    section_of(make_program_manual(app), *app.get_subcommand("simnet")),
    HasSubstr("\\fB\\-\\-hosts\\fR \\fIN\\fR\n"
              "PDS hosts. From 1 to 1000. Default: 3."));
}

// A line that begins with a dot or a quote is an instruction.
TEST_F(ManualPageTest, NoTextIsTakenForAnInstruction) {
  static const std::regex known{R"(^[.'](TH|SH|SS|TP|PP|br|\\")( .*)?$)"};
  for (const auto& page : {make_program_manual(app), make_config_manual()}) {
    std::istringstream lines{page};
    for (std::string line; std::getline(lines, line);) {
      const bool told = line.starts_with('.') || line.starts_with('\'');
      EXPECT_TRUE(!told || std::regex_match(line, known)) << line;
    }
  }
}

TEST_F(ManualPageTest, BashOffersWhatHelpNames) {
  for (const auto* command : all_commands(app)) {
    std::vector<std::string> words;
    std::istringstream path{path_of(*command)};
    std::string word;
    path >> word; // weir
    while (path >> word)
      words.push_back(word);
    words.emplace_back("-");
    const auto found = offers(app, words);
    for (const auto& flag : flags_in_help(*command))
      EXPECT_THAT(found, Contains(flag)) << path_of(*command);
    words.back() = "";
    const auto all = offers(app, words);
    for (const auto* x : subcommands_of(*command))
      EXPECT_THAT(all, Contains(x->get_name())) << path_of(*command);
  }
}

TEST_F(ManualPageTest, BashOffersValuesWhereAValueIsWanted) {
  using testing::ElementsAre;
  EXPECT_THAT(offers(app, {"run", "--mode", "f"}), ElementsAre("full-network"));
  EXPECT_THAT(offers(app, {"run", "--mode", "=", "s"}), ElementsAre("signal"));
  EXPECT_THAT(offers(app, {"run", "--bind", ""}), IsEmpty());
  EXPECT_THAT(offers(app, {"run", "--config", "/etc/host"}),
              Contains("/etc/hosts"));
  EXPECT_THAT(offers(app, {"run", "--data-dir", "/et"}), Contains("/etc"));
  EXPECT_THAT(offers(app, {"config", "check", "/etc/host"}),
              Contains("/etc/hosts"));
  EXPECT_THAT(offers(app, {"completion", "b"}), ElementsAre("bash"));
  EXPECT_THAT(offers(app, {"manual", "weir."}), ElementsAre("weir.toml"));
}

} // namespace weir::apps
