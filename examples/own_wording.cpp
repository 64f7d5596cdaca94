// SPDX-License-Identifier: MIT
// How do stubs say what a tool of one's own did, or say it in other words? A summariser adds a line for its tools to the
// plain wording; a wording writes all texts itself, and knows them again.
#include <coppice/coppice.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace {

using Json = nlohmann::ordered_json;

/// `query_db orders, 80 rows`
struct Query {
    static constexpr std::array<std::string_view, 1> tools{"query_db"};

    void summarise(std::string& out, std::string_view tool, const coppice::CallView& call) const {
        out.append(tool).append(" ").append(call.text("table"));
        out += fmt::format(", {} rows", coppice::CallView::line_count(call.output()));
    }
};

/// `(geleert: 1500 Zeichen)`. Printable ASCII without quotes or backslashes, and a number is all that it tells.
struct German {
    static constexpr std::string_view name = "german";
    static constexpr std::size_t longest = 60;       // bytes of its longest text
    static constexpr std::size_t identity_limit = 0;  // it does not name calls
    static constexpr char opening = '(';
    coppice::Shape shape = coppice::Shape::as_it_was;

    void result(std::string& out, const coppice::ResultFacts& facts) const { write(out, facts.size.chars); }
    void field(std::string& out, const coppice::FieldFacts& facts) const { write(out, facts.size.chars); }
    void image(std::string& out, const coppice::ResultFacts&) const { write(out, 0); }

    // by its exact grammar, or pruning twice would prune more
    coppice::Recognised recognise(std::string_view text) const {
        using enum coppice::Recognised::Kind;
        const bool framed = text.starts_with(begin) && text.ends_with(end);
        if (!framed || text.size() <= begin.size() + end.size() || text.size() > longest) { return {.kind = content}; }
        text.remove_prefix(begin.size());
        text.remove_suffix(end.size());
        return {.kind = text.find_first_not_of("0123456789") == std::string_view::npos ? stub : content};
    }

private:
    static constexpr std::string_view begin = "(geleert: ";
    static constexpr std::string_view end = " Zeichen)";

    static void write(std::string& out, std::size_t characters) { out += fmt::format("{}{}{}", begin, characters, end); }
};

Json session() {
    std::string rows;
    for (int i = 1; i <= 80; ++i) { rows += fmt::format("{}order {}, 19.90", i == 1 ? "" : "\n", i); }
    const Json call = {{"type", "tool_use"}, {"id", "c"}, {"name", "query_db"}, {"input", {{"table", "orders"}}}};
    const Json result = {{"type", "tool_result"}, {"tool_use_id", "c"}, {"content", rows}};
    return {{"messages",
             {{{"role", "user"}, {"content", "What was sold?"}},
              {{"role", "assistant"}, {"content", Json::array({call})}},
              {{"role", "user"}, {"content", Json::array({result})}},
              {{"role", "assistant"}, {"content", "Eighty orders."}}}}};
}

template <class Wording>
bool print_stub(Wording wording) {
    const coppice::Pipeline pruner{coppice::KeepRecent<0, coppice::chars(500)>{}, wording};
    Json body = session();
    const coppice::Report report = coppice::prune(body, pruner);
    for (const coppice::EditRecord& edit : report.edits) { fmt::print("{}\n", edit.replacement); }
    return report.engaged && !coppice::prune(body, pruner).engaged;
}

}  // namespace

int main() {
    const bool said = print_stub(coppice::SummaryWording<Query>{});
    return print_stub(German{}) && said ? 0 : 1;
}
