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

TEST(PlaceNote, KeepsAPlaceOfTheProgram) {
    const auto here = std::source_location::current();
    PlaceNote note(here);
    EXPECT_EQ(to_string(note.get()), to_string(Place(here)));
    EXPECT_EQ(note.get().function, Place(here).function);
    EXPECT_FALSE(PlaceNote().get().is_known());
    EXPECT_FALSE(PlaceNote(std::source_location()).get().is_known());
    static_assert(sizeof(PlaceNote) == sizeof(void*));
}

TEST(PlaceNote, KeepsACopyOfAnyOther) {
    PlaceNote note(Place("foo.php", 10, "main"));
    PlaceNote copy(note);
    note = PlaceNote();
    EXPECT_FALSE(note.get().is_known());
    EXPECT_EQ(to_string(copy.get()), "foo.php:10");
    const PlaceNote moved(std::move(copy));
    EXPECT_EQ(moved.get().function, "main");
    EXPECT_FALSE(PlaceNote(Place()).get().is_known());
}

}  // namespace
}  // namespace trueasync
