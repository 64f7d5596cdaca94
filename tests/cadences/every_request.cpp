// SPDX-License-Identifier: MIT
#include <coppice/cadences/every_request.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace support;

TEST_CASE("every_request: the horizon is the whole history") {
    const Ordered document = session_of_sizes({3000, 3000, 3000});
    const Pruned p = pruned(document, coppice::Pipeline{coppice::KeepRecent<1>{}, coppice::EveryRequest<>{}});
    CHECK(fates(p) == "ss-");
    CHECK(p.report.horizon == document["messages"].size());
}

TEST_CASE("every_request: it is what a pipeline without a cadence does") {
    const Ordered document = session_of_sizes({3000, 3000, 3000});
    CHECK(pruned(document, coppice::Pipeline{coppice::KeepRecent<1>{}, coppice::EveryRequest<>{}})
              .after.dump() == pruned(document, coppice::Pipeline{coppice::KeepRecent<1>{}}).after.dump());
}

TEST_CASE("every_request: a body below the engage size stays and the report gives both numbers") {
    const Ordered document = session_of_sizes({3000, 3000, 3000});
    const std::size_t size = document.dump().size();
    const auto from = [&](coppice::Size engage) {
        return pruned_once(
            document, coppice::Pipeline{coppice::KeepRecent<1>{}, coppice::EveryRequest<>{.engage = engage}});
    };
    CHECK(from(size).report.engaged);
    const Pruned below = from(size + 1);
    CHECK(below.unchanged());
    CHECK(below.report.horizon == 0);
    CHECK(below.report.why ==
          "the body has " + std::to_string(size) + " of " + std::to_string(size + 1) + " bytes");
}

TEST_CASE("every_request: the engage size counts in its own unit") {
    std::string faces;
    for (int i = 0; i < 1000; ++i) {
        faces += "\xF0\x9F\x98\x80";
    }  // 4000 bytes, 2000 units, 1000 characters
    const Ordered document = session({Ordered(faces), Ordered(faces + "x")});
    const coppice::Extent size = coppice::measure(std::string_view(document.dump())).plain;
    const auto engaged = [&](coppice::Size engage) {
        return pruned_once(document, coppice::Pipeline{coppice::KeepRecent<1>{},
                                                       coppice::EveryRequest<>{.engage = engage}})
            .report.engaged;
    };
    CHECK(engaged(coppice::utf16(size.utf16)));
    CHECK_FALSE(engaged(coppice::utf16(size.utf16 + 1)));
    CHECK(engaged(coppice::chars(size.chars)));
    CHECK_FALSE(engaged(coppice::chars(size.chars + 1)));
}

TEST_CASE("every_request: a history that ends with the model is at its end too") {
    const Ordered document = session_of_sizes({3000, 3000});
    CHECK(pruned(document, coppice::Pipeline{coppice::KeepRecent<0>{}, coppice::EveryRequest<>{}})
              .report.horizon == 6);
}
