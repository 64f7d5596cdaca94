// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/dom_walk.hpp>
#include <coppice/measure.hpp>
#include <coppice/text.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// Writes a value as Python's `json.dumps(value, ensure_ascii=False)` does. A string of more than `longest_string`
/// code points is written as its length, so that no part of it can be taken for the whole (hermes-agent #83435).
template <class Json>
class JsonSpelling {
public:
    JsonSpelling(std::string& out, std::size_t longest_string) : out_(out), longest_string_(longest_string) {}

    void write(const Json& value) { walk(value, *this, stack_); }

    void member(const typename Json::object_t::key_type& key, bool first) {
        if (!first) { out_ += ", "; }
        string(key);
        out_ += ": ";
    }

    void element(bool first) {
        if (!first) { out_ += ", "; }
    }

    bool enter(const Json& value) {
        using Type = typename Json::value_t;
        switch (value.type()) {
            case Type::object: out_ += '{'; return true;
            case Type::array: out_ += '['; return true;
            case Type::string: string(*value.template get_ptr<const typename Json::string_t*>()); break;
            case Type::number_float: number(value.template get<double>()); break;
            case Type::binary:
            case Type::discarded: out_ += "null"; break;
            default: out_ += value.dump();
        }
        return false;
    }

    void leave(bool object) { out_ += object ? '}' : ']'; }

private:
    void string(std::string_view text) {
        const std::size_t chars = text.size() <= longest_string_ ? 0 : measure_plain(text).chars;
        if (chars <= longest_string_) {
            append_json_string(out_, text);
            return;
        }
        out_ += "\"[";
        append_number(out_, chars);
        out_ += " characters]\"";
    }

    void number(double value) {
        if (!std::isfinite(value)) {
            out_ += std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
            return;
        }
        const std::size_t start = out_.size();
        fmt::format_to(std::back_inserter(out_), "{}", value);
        // a float stays one
        if (out_.find_first_not_of("-0123456789", start) == std::string::npos) { out_ += ".0"; }
    }

    std::string& out_;
    std::size_t longest_string_;
    std::vector<OpenValue<Json>> stack_;
};

}  // namespace coppice::detail
