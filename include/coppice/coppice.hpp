// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>
#include <coppice/cadences/every_request.hpp>
#include <coppice/cadences/stepped.hpp>
#include <coppice/dialect.hpp>
#include <coppice/dialects/anthropic.hpp>
#include <coppice/dom.hpp>
#include <coppice/guard.hpp>
#include <coppice/guards/blank_text.hpp>
#include <coppice/guards/cache_marks.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/guards/opaque.hpp>
#include <coppice/guards/pairing.hpp>
#include <coppice/guards/unread.hpp>
#include <coppice/measure.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/plan.hpp>
#include <coppice/policies.hpp>
#include <coppice/policy.hpp>
#include <coppice/preset.hpp>
#include <coppice/report.hpp>
#include <coppice/spill.hpp>
#include <coppice/text.hpp>
#include <coppice/transcript.hpp>
#include <coppice/wording.hpp>
