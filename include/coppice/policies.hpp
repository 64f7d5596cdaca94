// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/cap_on_arrival.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/policies/clear_hinted.hpp>
#include <coppice/policies/dedup.hpp>
#include <coppice/policies/failed_call.hpp>
#include <coppice/policies/keep_ends.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/oversized_output.hpp>
#include <coppice/policies/repeated_call.hpp>
#include <coppice/policies/small_aging.hpp>
#include <coppice/policies/spill.hpp>
#include <coppice/policies/stale_input.hpp>
#include <coppice/policies/stale_media.hpp>
#include <coppice/policies/stale_output.hpp>
#include <coppice/policies/stale_reasoning.hpp>
