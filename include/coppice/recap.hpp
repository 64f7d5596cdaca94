// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/recap/aging.hpp>
#include <coppice/recap/branch.hpp>
#include <coppice/recap/builder.hpp>
#include <coppice/recap/compaction.hpp>
#include <coppice/recap/message.hpp>
#include <coppice/recap/note.hpp>
#include <coppice/recap/openswarm.hpp>
#include <coppice/recap/options.hpp>
#include <coppice/recap/pairing.hpp>
#include <coppice/recap/session.hpp>
#include <coppice/recap/wording.hpp>
