// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/call_identity.hpp>
#include <coppice/detail/canonical.hpp>
#include <coppice/detail/json_text.hpp>
#include <coppice/transcript.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <locale>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

/// A call and what came of it, for a wording that says more of it than its name. Read when somebody asks. What is asked
/// of the input stands at its top level; it is what the call was made with, also where a policy clears it.
class CallView {
public:
    /// `output` is what stands in the place of the result's text, where there is something.
    void show(const Transcript& transcript, std::size_t result, std::string_view output) {
        transcript_ = &transcript;
        result_ = result;
        part_ = none;
        output_ = output;
        read_ = false;
    }
    /// From now on, of a result in pieces the text of one of them: which comes first depends on the order of keys.
    void show_part(std::size_t part) { part_ = part; }
    /// And as if the call had had no input.
    void hide_input() {
        read_ = true;
        input_.clear();
    }

    /// A text of the input, as far as anybody would show it; nothing of other values, or where an earlier pruning took it.
    std::string text(std::string_view name) const {
        const Value value = member(name);
        return value.is_text() ? value_of(value) : std::string();
    }

    /// A number, true or false of the input, or a text; nothing of null, lists and objects. Of numbers, whole ones are
    /// exact, and others as short as they can be.
    std::string value(std::string_view name) const { return value_of(member(name)); }

    /// The texts of a list of the input that are not blank, of objects in it the first of `members`. One where there is a
    /// text and no list.
    std::vector<std::string> list(std::string_view name, std::span<const std::string_view> members = {}) const {
        std::vector<std::string> found;
        const auto add = [&](const Value& item) {
            std::string said = item.is_text() ? value_of(item) : std::string();
            if (!trimmed(said).empty()) { found.push_back(std::move(said)); }
        };
        const Value value = member(name);
        add(value);
        value.elements([&](const Value& item) {
            add(item);
            for (const std::string_view wanted : members) {
                const Value inner = member_of(item, wanted);
                if (!inner.is_text() || trimmed(inner.text()).empty()) { continue; }
                add(inner);
                return;
            }
        });
        return found;
    }

    /// Lines of a text of the input; nothing where there is no such text, or where an earlier pruning took it.
    std::optional<std::size_t> lines(std::string_view name) const {
        const Value value = member(name);
        if (!value.is_text() || was_cleared(value)) { return std::nullopt; }
        return line_count(value.text());
    }

    /// Calls `visit(std::string_view name, std::string_view value)` for each text, number, true and false of the input, in
    /// the order of the names.
    template <class Visit>
    void for_each_value(Visit visit) const {
        input().members([&](std::string_view key, const Value& value) {
            if (const std::string said = value_of(value); !said.empty()) { visit(key, std::string_view(said)); }
        });
    }

    /// The text of the result, or of the part of it that is shown.
    std::string output() const {
        if (!output_.empty()) { return std::string(output_); }
        std::string joined;
        std::string scratch;
        const Entry& result = transcript_->all()[result_];
        for (std::size_t i = result.first_part; i < result.first_part + result.part_count; ++i) {
            const Part& part = transcript_->parts[i];
            const bool asked = part_ == none || part_ == i;
            if (asked && part.kind == Part::Kind::text) { joined += decoded(part.text.text(), scratch); }
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

    std::string value_of(const Value& value) const {
        if (value.is_null() || was_cleared(value)) { return {}; }
        return value.is_number() ? number(value.text()) : shown(value.text());
    }

    // libc++ reads doubles with from_chars from version 20 on.
    template <class Double>
    static std::from_chars_result read_double(std::string_view spelled, Double& value) {
        const char* const end = spelled.data() + spelled.size();
        if constexpr (requires { std::from_chars(end, end, value); }) {
            return std::from_chars(spelled.data(), end, value);
        } else {
            std::istringstream in{std::string(spelled)};
            in.imbue(std::locale::classic());
            if (in >> value) { return {end, std::errc()}; }
            value = 0;
            return {end, std::errc::result_out_of_range};
        }
    }

    // The document may hold it in another spelling than the bytes did.
    static std::string number(std::string_view spelled) {
        const char* const end = spelled.data() + spelled.size();
        const auto fits = [&](auto whole) {
            const auto read = std::from_chars(spelled.data(), end, whole);
            return read.ec == std::errc() && read.ptr == end;
        };
        if (fits(std::uint64_t{}) || fits(std::int64_t{})) { return std::string(spelled); }
        double value = 0;
        const auto read = read_double(spelled, value);
        const bool small = read.ec == std::errc::result_out_of_range && spelled.find("e-") != std::string_view::npos;
        if (read.ec == std::errc::result_out_of_range && !small) { return shown(spelled); }
        // what is nothing but zeros has no digit left
        if (value == 0) { return "0"; }
        std::array<char, 32> text{};
        return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
    }

    bool was_cleared(const Value& value) const {
        const std::size_t peer = transcript_->all()[result_].peer;
        if (peer == none || !transcript_->all()[peer].cleared || !value.is_text()) { return false; }
        for (const Field& field : transcript_->fields_of(transcript_->all()[peer])) {
            if (field.cleared && same_text(field.text.text(), value.text())) { return true; }
        }
        return false;
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
        if (peer != none) { detail::append_input(*transcript_, transcript_->all()[peer], input_); }
    }

    const Transcript* transcript_ = nullptr;
    std::size_t result_ = none;
    std::size_t part_ = none;
    std::string_view output_;
    mutable bool read_ = false;
    mutable std::string input_;  // canonical
};

}  // namespace coppice
