// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/canonical.hpp>
#include <coppice/detail/json_text.hpp>
#include <coppice/transcript.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

/// A call and what came of it, for a wording that says more of it than its name. Read when somebody asks. What is asked
/// of the input stands at its top level; it is what the call was made with, also where a policy clears it.
class CallView {
public:
    /// `output` is what stands in the place of the result's text, where there is something.
    void show(const Transcript& transcript, std::size_t result, std::string_view output) {
        transcript_ = &transcript;
        result_ = result;
        output_ = output;
        read_ = false;
    }

    /// A text of the input, as far as anybody would show it; nothing of other values.
    std::string text(std::string_view name) const {
        const Value value = member(name);
        return value.is_text() ? shown(value.text()) : std::string();
    }

    /// A number, true or false of the input as it is spelled, or a text; nothing of lists and objects.
    std::string value(std::string_view name) const { return shown(member(name).text()); }

    /// The texts of a list of the input, of objects in it the first of `members`. One where there is a text and no list.
    std::vector<std::string> list(std::string_view name, std::span<const std::string_view> members = {}) const {
        std::vector<std::string> found;
        const auto add = [&](const Value& item) {
            if (item.is_text() && !item.text().empty()) { found.push_back(shown(item.text())); }
        };
        const Value value = member(name);
        add(value);
        value.elements([&](const Value& item) {
            add(item);
            for (const std::string_view wanted : members) {
                const Value inner = member_of(item, wanted);
                if (!inner.is_text() || inner.text().empty()) { continue; }
                add(inner);
                return;
            }
        });
        return found;
    }

    /// Lines of a text of the input; nothing where there is no such text, or where an earlier pruning took it.
    std::optional<std::size_t> lines(std::string_view name) const {
        const std::size_t call = transcript_->all()[result_].peer;
        const Value value = member(name);
        if (!value.is_text() || transcript_->all()[call].cleared) { return std::nullopt; }
        return line_count(value.text());
    }

    /// Calls `visit(std::string_view name, std::string_view value)` for each text, number, true and false of the input, in
    /// the order of the names.
    template <class Visit>
    void for_each_value(Visit visit) const {
        input().members([&](std::string_view key, const Value& value) {
            if (!value.text().empty() && value.text() != "null") { visit(key, value.text()); }
        });
    }

    /// The text of the result.
    std::string output() const {
        if (!output_.empty()) { return std::string(output_); }
        std::string joined;
        std::string scratch;
        for (const Part& part : transcript_->parts_of(transcript_->all()[result_])) {
            if (part.kind == Part::Kind::text) { joined += decoded(part.text.text(), scratch); }
        }
        return joined;
    }

    /// Of a result that is a JSON object, the first text member of these names; of another, its first line.
    std::string output_text(std::initializer_list<std::string_view> names) const {
        const std::string text = output();
        detail::JsonText json;
        if (trimmed(text).substr(0, 1) != "{" || !json.read(text)) { return std::string(first_line(text)); }
        std::string scratch;
        for (const std::string_view name : names) {
            const Text found = json.root().peek(name);
            if (!found.empty()) { return std::string(detail::shown(found, scratch)); }
        }
        return {};
    }

    /// Its lines, but none where it is blank.
    static std::size_t line_count(std::string_view text) {
        if (trimmed(text).empty()) { return 0; }
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    }

private:
    using Value = detail::CanonicalValue;

    // of a text of any length, what is worth being cut further
    static std::string shown(std::string_view text) {
        constexpr std::size_t most = 1024;
        return std::string(first_chars(text, most));
    }

    static Value member_of(const Value& object, std::string_view name) {
        Value found;
        object.members([&](std::string_view key, const Value& value) {
            if (key == name) { found = value; }
        });
        return found;
    }
    Value member(std::string_view name) const { return member_of(input(), name); }

    Value input() const {
        if (!read_) { read_input(); }
        std::string_view rest = input_;
        return Value::take(rest);
    }

    void read_input() const {
        read_ = true;
        input_.clear();
        const std::size_t peer = transcript_->all()[result_].peer;
        if (peer == none) { return; }
        const Entry& call = transcript_->all()[peer];
        if (!call.packed.empty()) {
            transcript_->source->append_canonical(call.packed, input_);
        } else if (call.content) {
            transcript_->source->append_canonical(call.content, input_);
        }
    }

    const Transcript* transcript_ = nullptr;
    std::size_t result_ = none;
    std::string_view output_;
    mutable bool read_ = false;
    mutable std::string input_;  // canonical
};

}  // namespace coppice
