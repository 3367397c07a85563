#include <trueasync/base/place.hpp>

#include <gtest/gtest.h>

namespace trueasync {
namespace {

TEST(Place, DefaultIsUnknown) {
    EXPECT_FALSE(Place().is_known());
    EXPECT_EQ(to_string(Place()), "unknown");
}

TEST(Place, NeedsFileAndLine) {
    EXPECT_FALSE(Place("foo.php", 0).is_known());
    EXPECT_FALSE(Place("", 10).is_known());
    EXPECT_TRUE(Place("foo.php", 10).is_known());
    EXPECT_EQ(to_string(Place("foo.php", 0)), "unknown");
}

TEST(Place, PrintsFileAndLine) {
    EXPECT_EQ(to_string(Place("foo.php", 10, "main")), "foo.php:10");
    EXPECT_EQ(Place("foo.php", 10, "main").function, "main");
    EXPECT_TRUE(Place("foo.php", 10).function.empty());
}

TEST(Place, ComesFromASourceLocation) {
    const Place place = std::source_location::current();
    EXPECT_TRUE(place.is_known());
    EXPECT_NE(place.file.find("place_test.cpp"), std::string_view::npos);
    EXPECT_EQ(place.line, static_cast<std::uint32_t>(__LINE__) - 3);
    EXPECT_NE(place.function.find("TestBody"), std::string_view::npos);
}

}  // namespace
}  // namespace trueasync
