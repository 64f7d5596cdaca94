#include "../../examples/session_generator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../support/anthropic_validator.hpp"

namespace {

using anthropic_validator::Findings;
using anthropic_validator::violations;
using coppice_examples::make_session;
using coppice_examples::SessionShape;
using Json = nlohmann::ordered_json;

SessionShape shape_of(std::uint64_t seed, std::size_t results) {
    SessionShape shape;
    shape.seed = seed;
    shape.results = results;
    return shape;
}

std::uint64_t fnv1a(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char byte : bytes) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
    }
    return hash;
}

/// What a session holds, by name.
struct Census {
    std::map<std::string, std::size_t> blocks;
    std::map<std::string, std::size_t> parts;
    std::map<std::string, std::size_t> tools;
    std::size_t errors = 0;
    std::size_t duplicates = 0;
    std::size_t empty_results = 0;
    std::size_t block_lists = 0;
    std::size_t foreign_texts = 0;
    std::size_t mixed_messages = 0;
    std::size_t parallel_messages = 0;
    std::size_t user_texts = 0;
    std::size_t cache_marks = 0;
    std::vector<std::size_t> result_bytes;
};

std::size_t count_marks(const Json& value) {
    std::size_t marks = 0;
    if (value.is_object()) {
        for (const auto& field : value.items()) {
            marks += field.key() == "cache_control" ? 1U : count_marks(field.value());
        }
    } else if (value.is_array()) {
        for (const Json& item : value) {
            marks += count_marks(item);
        }
    }
    return marks;
}

bool is_foreign(std::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

Census take_census(const Json& body) {
    Census census;
    census.cache_marks = count_marks(body);
    std::map<std::string, std::string> calls;
    std::set<std::string> reads;
    for (const Json& message : body.at("messages")) {
        const Json& content = message.at("content");
        if (content.is_string()) {
            ++census.user_texts;
            continue;
        }
        std::size_t results = 0;
        for (const Json& block : content) {
            const std::string type = block.at("type").get<std::string>();
            ++census.blocks[type];
            if (type == "tool_use") {
                ++census.tools[block.at("name").get<std::string>()];
                calls[block.at("id").get<std::string>()] = block.at("name").dump() + block.at("input").dump();
            }
            if (type != "tool_result") {
                continue;
            }
            ++results;
            const Json payload = block.contains("content") ? block.at("content") : Json("");
            census.errors += block.contains("is_error") && block.at("is_error").get<bool>() ? 1U : 0U;
            census.empty_results += payload == "" ? 1U : 0U;
            census.block_lists += payload.is_array() ? 1U : 0U;
            census.foreign_texts += is_foreign(payload.dump()) ? 1U : 0U;
            const std::string call = calls.at(block.at("tool_use_id").get<std::string>());
            if (call.rfind("\"Read\"", 0) == 0 && !reads.insert(call + payload.dump()).second) {
                ++census.duplicates;
            }
            bool is_text = true;
            if (payload.is_array()) {
                for (const Json& part : payload) {
                    ++census.parts[part.at("type").get<std::string>()];
                    is_text = is_text && part.at("type") == "text";
                }
            }
            if (is_text) {
                census.result_bytes.push_back(payload.dump().size());
            }
        }
        const bool is_user = message.at("role") == "user";
        census.parallel_messages += results > 1 ? 1U : 0U;
        census.mixed_messages += is_user && results > 0 && results < content.size() ? 1U : 0U;
        census.user_texts += is_user && results == 0 ? 1U : 0U;
    }
    std::sort(census.result_bytes.begin(), census.result_bytes.end());
    return census;
}

std::size_t count_results(const Json& body) {
    return take_census(body).blocks["tool_result"];
}

}  // namespace

TEST_CASE("session generator: the same shape gives the same bytes") {
    CHECK(make_session(shape_of(3, 50)).dump() == make_session(shape_of(3, 50)).dump());
    CHECK(make_session(shape_of(3, 50)).dump() != make_session(shape_of(4, 50)).dump());
}

TEST_CASE("session generator: the bytes are the same everywhere") {
    // Nothing else would notice that a compiler or a standard library got a say. The number may be renewed
    // when the generator itself is changed; measurements made before and after are then not comparable.
    CHECK(fnv1a(make_session(shape_of(7, 200)).dump()) == 18382125342538111731U);
}

TEST_CASE("session generator: every session is a valid request") {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        CAPTURE(seed);
        constexpr std::array<std::size_t, 6> sizes{0, 1, 2, 3, 10, 150};
        for (const std::size_t results : sizes) {
            CAPTURE(results);
            SessionShape shape = shape_of(seed, results);
            shape.cache_marks = seed % 5;
            shape.ends_with_user_text = seed % 2 == 1;
            const Json body = make_session(shape);
            CHECK(violations(body) == Findings{});
            CHECK(count_results(body) == results);
            CHECK(Json::parse(body.dump()) == body);
            for (const char* const key : {"model", "max_tokens", "system", "tools", "messages"}) {
                CHECK(body.contains(key));
            }
        }
    }
}

TEST_CASE("session generator: extreme shapes are valid requests") {
    SessionShape everything = shape_of(1, 120);
    for (double* const share :
         {&everything.edit_share, &everything.error_share, &everything.empty_share,
          &everything.duplicate_share, &everything.image_share, &everything.document_share,
          &everything.tool_reference_share, &everything.unicode_share, &everything.block_list_share,
          &everything.thinking_share, &everything.user_turn_share, &everything.mixed_turn_share,
          &everything.server_search_share}) {
        *share = 1.0;
    }
    everything.parallel_share = 0.9;
    everything.cache_marks = 4;
    CHECK(violations(make_session(everything)) == Findings{});

    SessionShape nothing = shape_of(1, 120);
    for (double* const share :
         {&nothing.edit_share, &nothing.error_share, &nothing.empty_share, &nothing.duplicate_share,
          &nothing.image_share, &nothing.document_share, &nothing.tool_reference_share,
          &nothing.unicode_share, &nothing.block_list_share, &nothing.parallel_share, &nothing.thinking_share,
          &nothing.user_turn_share, &nothing.mixed_turn_share, &nothing.server_search_share}) {
        *share = 0.0;
    }
    nothing.cache_marks = 0;
    const Json plain = make_session(nothing);
    CHECK(violations(plain) == Findings{});
    Census census = take_census(plain);
    CHECK(census.errors + census.empty_results + census.duplicates + census.block_lists == 0);
    CHECK(census.foreign_texts + census.mixed_messages + census.parallel_messages + census.cache_marks == 0);
    CHECK(census.blocks["thinking"] + census.blocks["redacted_thinking"] + census.blocks["server_tool_use"] ==
          0);
    CHECK(census.tools["Edit"] + census.tools["Write"] + census.tools["MultiEdit"] == 0);
    CHECK(census.user_texts == 1);
}

TEST_CASE("session generator: everything occurs in 300 results") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        CAPTURE(seed);
        Census census = take_census(make_session(shape_of(seed, 300)));
        for (const char* const tool : {"Bash", "Read", "Grep", "Glob", "Write", "Edit", "MultiEdit",
                                       "WebFetch", "TodoWrite", "mcp__browser__screenshot", "ToolSearch"}) {
            CAPTURE(tool);
            CHECK(census.tools[tool] > 0);
        }
        for (const char* const type : {"thinking", "text", "server_tool_use", "web_search_tool_result"}) {
            CAPTURE(type);
            CHECK(census.blocks[type] > 0);
        }
        for (const char* const type : {"image", "document", "tool_reference", "text"}) {
            CAPTURE(type);
            CHECK(census.parts[type] > 0);
        }
        CHECK(census.errors > 5);
        CHECK(census.duplicates > 5);
        CHECK(census.empty_results > 2);
        CHECK(census.foreign_texts > 5);
        CHECK(census.mixed_messages > 1);
        CHECK(census.parallel_messages > 20);
        CHECK(census.user_texts > 5);
        CHECK(census.cache_marks == 3);
    }
}

TEST_CASE("session generator: where a session ends") {
    SessionShape shape = shape_of(2, 40);
    CHECK(make_session(shape)["messages"].back()["content"].back()["type"] == "tool_result");
    shape.ends_with_user_text = true;
    const Json last = make_session(shape)["messages"].back();
    CHECK(last["role"] == "user");
    CHECK(last["content"].back()["type"] == "text");
}

TEST_CASE("session generator: sizes have a middle and a long tail") {
    const std::vector<std::size_t> bytes = take_census(make_session(shape_of(1, 3000))).result_bytes;
    const auto share_below = [&bytes](std::size_t limit) {
        const auto below = std::lower_bound(bytes.begin(), bytes.end(), limit) - bytes.begin();
        return static_cast<double>(below) / static_cast<double>(bytes.size());
    };
    CHECK(share_below(400) < 0.5);
    CHECK(share_below(800) > 0.5);
    CHECK(share_below(80) > 0.1);
    CHECK(share_below(2000) < 0.85);
    CHECK(share_below(20'000) > 0.95);
    CHECK(bytes.back() > 50'000);

    SessionShape small = shape_of(1, 1000);
    small.median_result_bytes = 100;
    small.max_result_bytes = 2000;
    small.max_images = 3;
    Census census = take_census(make_session(small));
    CHECK(census.result_bytes[census.result_bytes.size() / 2] < 250);
    CHECK(census.result_bytes.back() < 3000);
    CHECK(census.parts["image"] == 3);
}
