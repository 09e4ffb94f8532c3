#include "base/process.hpp"

#include <gtest/gtest.h>

#include <string>
#include <sys/prctl.h>
#include <thread>

namespace weir {
namespace {

std::string name_of_this_thread() {
  char name[16] = {};
  prctl(PR_GET_NAME, name, 0, 0, 0);
  return name;
}

TEST(ThreadName, IsThatOfTheCallerAloneAndIsCut) {
  const auto before = name_of_this_thread();
  std::string seen;
  std::string cut;
  std::thread{[&] {
    name_thread("journal");
    seen = name_of_this_thread();
    name_thread("a name that is too long");
    cut = name_of_this_thread();
  }}.join();
  EXPECT_EQ(seen, "journal");
  EXPECT_EQ(cut, "a name that is ");
  EXPECT_EQ(name_of_this_thread(), before);
}

} // namespace
} // namespace weir
