// SPDX-License-Identifier: MIT
#pragma once

#include "anthropic_validator.hpp"
#include "bedrock_validator.hpp"
#include "gemini_validator.hpp"
#include "openai_chat_validator.hpp"
#include "openai_responses_validator.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace support {

using anthropic_validator::AllowedChanges;

/// The rules of a provider that `after` breaks and `before` did not, and everything that no pruner may change.
inline std::vector<std::string> new_violations(std::string_view dialect, const nlohmann::ordered_json& before,
                                               const nlohmann::ordered_json& after,
                                               const AllowedChanges& allowed = {}) {
    if (dialect == "anthropic") { return anthropic_validator::new_violations(before, after, allowed); }
    if (dialect == "openai-chat") {
        return openai_chat_validator::new_violations(before, after, {allowed.unread_results});
    }
    if (dialect == "openai-responses") {
        return openai_responses_validator::new_violations(before, after, {allowed.unread_results});
    }
    if (dialect == "gemini") { return gemini_validator::new_violations(before, after, {allowed.unread_results}); }
    if (dialect == "bedrock") { return bedrock_validator::new_violations(before, after, {allowed.unread_results}); }
    if (dialect.empty()) { return {}; }  // nothing was read
    throw std::logic_error("a dialect without a validator");
}

}  // namespace support
