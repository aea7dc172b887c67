// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/shared_library.hpp"

#include "support/catch.hpp"

using namespace peerpath;

TEST_CASE("SharedLibrary: a function is found; a library or a function that isn't there is named") {
  auto library = SharedLibrary::load("libc.so.6");
  REQUIRE(library);
  int (*number)(const char*) = nullptr;
  library->find("atoi", number);
  REQUIRE(library->has_all());
  CHECK(number("42") == 42);
  library->find("no_such_function", number);
  CHECK(number == nullptr);
  CHECK(library->has_all().error().message == "'libc.so.6' has no function 'no_such_function'");
  const auto none = SharedLibrary::load("libnone.so.9");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::unsupported);
  CHECK(none.error().text().find("libnone.so.9") != std::string::npos);
}
