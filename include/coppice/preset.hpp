// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/presets/hermes.hpp>
#include <coppice/presets/openswarm.hpp>
#include <coppice/presets/standard.hpp>
#include <coppice/presets/triage.hpp>
