// SPDX-License-Identifier: MIT
// The pages of examples/policies are what the program makes of the headers and of what the policies do now.
#include "support/folder.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#ifdef COPPICE_POLICY_PAGES

TEST_CASE("policy pages: each policy has one, and it is what the program writes") {
    const support::Folder folder("coppice-policy-pages");
    const std::filesystem::path project = COPPICE_SOURCE_DIR;
    const std::filesystem::path headers = project / "include/coppice/policies";
    const std::filesystem::path pages = project / "examples/policies";
    const std::string command = std::string("\"") + COPPICE_POLICY_PAGES + "\" \"" + headers.string() + "\" \"" +
                                folder.path().string() + "\"";
    REQUIRE(std::system(command.c_str()) == 0);
    const auto count = [](const std::filesystem::path& in) {
        return std::distance(std::filesystem::directory_iterator(in), std::filesystem::directory_iterator());
    };
    CHECK(count(folder.path()) == count(headers));
    CHECK(count(pages) == count(headers));
    for (const auto& header : std::filesystem::directory_iterator(headers)) {
        const std::string name = header.path().stem().string() + ".md";
        CAPTURE(name);
        std::ifstream file(pages / name, std::ios::binary);
        const std::string page{std::istreambuf_iterator<char>(file), {}};
        const bool same = page == folder.read(name);
        CHECK(same);  // cmake --build build --target coppice_policy_pages
    }
}

#endif
