// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/coppice.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace fuzz {

/// Says all that it is told, in few bytes, so that small contents are worth clearing.
struct Terse {
    static constexpr std::string_view name = "terse";
    static constexpr std::size_t longest = 90;
    static constexpr char opening = '[';
    static constexpr std::string_view duplicate_opening = "[~=";

    coppice::Shape shape = coppice::Shape::as_it_was;

    void result(std::string& out, const coppice::ResultFacts& facts) const {
        out += facts.duplicate ? duplicate_opening : "[~";
        append_size(out, facts.size);
        for (const std::size_t count : {facts.images, facts.documents, facts.others}) {
            if (count > 0) { out += 'a'; }
            coppice::append_number(out, count);
        }
        if (facts.error) { out += 'e'; }
        for (const std::string_view words : {facts.tool, facts.identity, facts.first_line, facts.last_line}) {
            coppice::append_safe(out, words, 6);
        }
        out += ']';
    }
    void field(std::string& out, const coppice::FieldFacts& facts) const {
        out += "[~";
        append_size(out, facts.size);
        coppice::append_safe(out, facts.field, 3);
        out += ']';
    }
    void image(std::string& out, const coppice::ResultFacts& facts) const {
        out += "[~";
        coppice::append_safe(out, facts.identity, 4);
        out += ']';
    }
    coppice::Recognised recognise(std::string_view text) const {
        using enum coppice::Recognised::Kind;
        const bool own = text.size() <= longest && text.size() >= 3 && text.substr(0, 2) == "[~" &&
                         text.find(']') == text.size() - 1;
        return {.kind = own ? stub : content};
    }

private:
    static void append_size(std::string& out, const coppice::Extent& size) {
        coppice::append_number(out, size.bytes);
        out += '/';
        coppice::append_number(out, size.chars);
        out += '/';
        coppice::append_number(out, size.utf16);
    }
};
static_assert(coppice::wording<Terse>);

/// Asks what a change would bring.
struct WhenItPays {
    static constexpr std::string_view name = "when_it_pays";
    struct State {};
    bool moves(State&, const coppice::Request& request) const {
        const coppice::Reclaim reclaim = request.reclaim();
        return 2 * reclaim.removed > reclaim.rewritten;
    }
};

/// Calls `visit(pipeline)` with the n-th one, counting round and round. The first ones change bodies of a few hundred
/// bytes.
template <class Visit>
void with_pipeline(std::size_t n, Visit visit) {
    using namespace coppice;
    using TinyBytes = Pipeline<SmallAging<0, Size{8}, Size{40}>, Dedup<Size{8}>, KeepRecent<0, Size{40}, 0>,
                               BulkyInputClear<0, Size{16}>, Ceiling<Size{300}, 1, Size{40}, Size{8}>>;
    using Tersely = Pipeline<SmallAging<0, Size{8}, Size{40}>, Dedup<Size{8}>, KeepRecent<0, Size{40}, 0>,
                             BulkyInputClear<0, Size{16}>, StaleReasoning<1>, Ceiling<Size{300}, 1, Size{40}, Size{8}>,
                             Terse>;
    using Utf16 = Pipeline<Stepped<2, utf16(250)>, Dedup<utf16(10), SameCall::ignored>,
                           SmallAging<1, utf16(10), utf16(60)>, KeepRecent<1, utf16(60), 1>,
                           BulkyInputClear<1, utf16(20)>, StaleReasoning<2>, Terse>;
    using Chars = Pipeline<EveryRequest<chars(200)>, Dedup<chars(1), SameCall::ignored, false>,
                           KeepRecent<1, chars(20), share_window, true>, BulkyInputClear<1, chars(8), true>,
                           Ceiling<chars(400), 2, chars(30), chars(8), true>, Terse>;
    using Squeeze = Pipeline<Ceiling<Size{40}, 1, Size{40}, Size{8}>, ExemptTools, Terse>;
    using Weighing =
        Pipeline<WhenItPays, Dedup<Size{8}>, KeepRecent<1, Size{40}, 0>, BulkyInputClear<0, Size{16}>, Terse>;
    using Swarm =
        Pipeline<SmallAging<0, utf16(8), utf16(40), true>, Dedup<utf16(8), SameCall::ignored, false>,
                 KeepRecent<0, utf16(40), share_window, true>, BulkyInputClear<0, utf16(16), true>,
                 Ceiling<utf16(300), 1, utf16(40), utf16(8), true>, OpenSwarmWording>;
    using Telling = Pipeline<StaleInput<0, 1, chars(20), chars(16)>, OversizedOutput<chars(40), 8, 4, 1, 0>,
                             FailedCall<1, 0, Size{16}, 12>, KeepEnds<1, 2, chars(40), 60>, ToolSummaries>;
    constexpr Terse blocks{.shape = Shape::always_blocks};
    switch (n % 13) {
        case 0: return visit(Tersely{});
        case 1: return visit(TinyBytes{});
        case 2: return visit(Utf16{});
        case 3: return visit(Chars{});
        case 4: return visit(Squeeze{});
        case 5: return visit(Weighing{});
        case 6: return visit(Swarm{});
        case 7: return visit(Pipeline{Stepped<3>{}, Dedup<Size{8}>{}, KeepRecent<0, Size{8}, 0>{}, blocks});
        case 8: return visit(presets::standard(EveryRequest<>{}));
        case 9: return visit(presets::standard(Stepped<2>{}));
        case 10: return visit(presets::openswarm(EveryRequest<>{}));
        case 11: return visit(Telling{});
        default: return visit(presets::openswarm(Stepped<3, utf16(600)>{}));
    }
}
inline constexpr std::size_t pipeline_count = 12;

}  // namespace fuzz
