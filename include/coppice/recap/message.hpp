// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace coppice::inline v0 {

/// What a message of a session is. Nothing but asks, calls and results shows in a recap.
enum class SessionRole : std::uint8_t { user, assistant, tool_call, tool_result, other };

/// One message of a session, as a host shows it to the recap builder: a view of the host's own data.
struct SessionMessage {
    SessionRole role = SessionRole::other;  ///< who speaks
    std::string_view id{};                  ///< as the log has it
    std::string_view call_id{};             ///< of a call and its result; empty where the host has none
    std::string_view tool{};                ///< name; of a result only where it states one itself
    std::string_view text{};                ///< what was asked or written, the input of a call, the body of a result
    std::string_view reference{};           ///< of a result: where its full content is stored, if it is
    bool error = false;                     ///< a result that says that its call failed
    bool hidden = false;                    ///< not part of what is recapped
    std::string_view branch{};              ///< empty: the main branch
};

}  // namespace coppice
