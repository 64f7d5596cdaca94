// SPDX-License-Identifier: MIT
#pragma once

#include "builders.hpp"

#include <coppice/dom.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace support {

/// An entry of a batch: `{"custom_id", "params"}`.
template <class Json = Ordered>
Json entry(const std::string& id, Value<Json> request) {
    Json out = {{"custom_id", id}};
    out["params"] = std::move(request);
    return out;
}

/// A line of a batch file: `{"custom_id", "method", "url", "body"}`.
template <class Json = Ordered>
Json batch_line(const std::string& id, Value<Json> request) {
    Json out = {{"custom_id", id}, {"method", "POST"}, {"url", "/v1/messages"}};
    out["body"] = std::move(request);
    return out;
}

/// A batch of these entries: `{"requests": [...]}`.
template <class Json = Ordered, class... Entries>
Json batch(Entries... entries) {
    Json out = Json::object();
    out["requests"] = list<Json>(std::move(entries)...);
    return out;
}

/// The request that an entry or a line holds, or the value itself.
template <class Json>
Json& request_in(Json& value) {
    for (const char* const key : {"params", "body", "request", "modelInput"}) {
        if (value.is_object() && value.contains(key)) { return value.at(key); }
    }
    return value;
}

/// The n-th request of a document: of a batch, of an array of entries, or the document itself.
template <class Json>
Json& request_of(Json& document, std::size_t n) {
    if (document.is_object() && document.contains("requests") && !document.contains("messages")) {
        return request_in(document.at("requests").at(n));
    }
    if (document.is_array() && !document.empty() && &request_in(document.at(0)) != &document.at(0)) {
        return request_in(document.at(n));
    }
    return request_in(document);
}

/// A cursor over a DOM that calls every object with a member `twice` one that repeats a key.
template <class Json>
class RepeatingCursor {
public:
    explicit RepeatingCursor(const Json& value) : dom_(value), value_(&value) {}

    coppice::JsonType type() const { return dom_.type(); }
    bool is_true() const { return dom_.is_true(); }
    coppice::Text text() const { return dom_.text(); }
    coppice::MeasuredText measured() const { return dom_.measured(); }
    coppice::Text peek(std::string_view key) const { return dom_.peek(key); }
    coppice::Node node() const { return dom_.node(); }

    bool repeats_keys() const { return value_->is_object() && value_->contains("twice"); }
    bool holds_repeated_keys() const {
        bool found = repeats_keys();
        if (value_->is_structured()) {
            for (const Json& inner : *value_) {
                found = found || RepeatingCursor(inner).holds_repeated_keys();
            }
        }
        return found;
    }

    template <class Visit>
    void members(Visit visit) const {
        dom_.members([&](coppice::Text key, coppice::detail::DomCursor<Json> value) {
            visit(key, RepeatingCursor(value_of(value)));
        });
    }
    template <class Visit>
    void elements(Visit visit) const {
        dom_.elements(
            [&](coppice::detail::DomCursor<Json> value) { visit(RepeatingCursor(value_of(value))); });
    }

private:
    static const Json& value_of(coppice::detail::DomCursor<Json> cursor) {
        return *static_cast<const Json*>(cursor.node().where);
    }

    coppice::detail::DomCursor<Json> dom_;
    const Json* value_;
};

}  // namespace support
