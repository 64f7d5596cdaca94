// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/any_pipeline.hpp>
#include <coppice/detail/config_reader.hpp>
#include <coppice/detail/dom_walk.hpp>
#include <coppice/spill.hpp>

namespace coppice::inline v0 {

/// The pipeline that a JSON document describes, for hosts whose users choose. It does what the same pipeline in code
/// does, and its reports are the same.
///
///     {"preset": "standard", "cadence": {"name": "ski_rental", "prices": "openai", "engage": {"bytes": 40000}}}
///
///     {"policies": ["dedup", {"name": "keep_recent", "keep": 3, "big": {"utf16": 2000}}], "wording": "plain",
///      "cadence": {"name": "stepped", "requests": 7}, "exempt_tools": ["Skill"], "thinking_binding": "by_name"}
///
/// - `preset`: what to start from; any other key replaces that part of it, whole.
/// - `policies`: in the order of running. Without a preset there must be some.
/// - `cadence`, `wording`: without a preset `every_request` and `plain`.
/// - `exempt_tools`: names, or "steering" for `steering_tools`; without a preset there are none.
/// - `exempt_paths`: globs (coppice/guards/exempt_paths.hpp), or "steering" for `steering_paths`; by default none.
/// - `thinking_binding`: "by_name", "always" or "never".
/// - `$schema`: ignored; `config.schema.json` of the package describes all this to editors.
///
/// A part is its name, or an object with `name` and any of its public fields, named as they are in code; the others
/// have their defaults. Sizes are bytes, or `{"chars": 2000}`, `{"utf16": 2000}`, `{"bytes": 2000}`. Prices are the name
/// of a row (coppice/prompt_cache.hpp), or `{"write": 1250, "read": 100}` in thousandths.
///
/// `spill` needs a store, which outlives the pipeline and whatever copies it; without one it is an error.
///
/// Throws std::invalid_argument on anything else, unknown keys and numbers that a part refuses included. The text names
/// the place by its JSON Pointer: `coppice::config: /policies/1/keep is no whole number`. Of a key that the text of a
/// document has twice, a DOM has one, and nothing is said. All names are copied: the document need not be kept.
template <class Json, spill_store Store = MemorySpillStore>
AnyPipeline pipeline_from_json(const Json& document, Store* store = nullptr) {
    static_assert(detail::is_basic_json_v<Json>,
                  "coppice::pipeline_from_json: the document is no nlohmann::basic_json; parse the text first");
    return detail::ConfigReader<Json, Store>(store).read(document);
}

}  // namespace coppice
