// SPDX-License-Identifier: MIT
// For a program whose sanitizer has an operator new of its own: allocations are not counted there.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
