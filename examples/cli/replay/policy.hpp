// SPDX-License-Identifier: MIT
#pragma once

#include "session.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coppice_replay {

/// What a policy does to a request.
struct Sent {
    std::vector<std::size_t> edits{};  ///< their numbers in the session, in the order of the document
    bool suggests = false;             ///< it says where a cache breakpoint belongs, or that none is needed
    std::size_t breakpoint_unit = 0;   ///< the unit before it; 0: none is needed
};

/// A pruner in a replay. It is asked at every request of a session, in their order, and may remember what it likes.
class ReplayPolicy {
public:
    virtual ~ReplayPolicy() = default;
    /// Fills in what it does at this request; `sent` comes empty.
    virtual void next(Session& session, const Request& request, Sent& sent) = 0;

protected:
    ReplayPolicy() = default;
    ReplayPolicy(const ReplayPolicy&) = default;
    ReplayPolicy& operator=(const ReplayPolicy&) = default;
};

/// What stands behind a name.
struct NamedPolicy {
    std::string name;
    std::string what;  ///< it does, in one line
    std::function<std::unique_ptr<ReplayPolicy>()> make;  ///< one for each session
};

}  // namespace coppice_replay
