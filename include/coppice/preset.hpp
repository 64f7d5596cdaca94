// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/presets/openswarm.hpp>
#include <coppice/presets/standard.hpp>
