// SPDX-License-Identifier: MIT
#pragma once

// A pruning call that meets bad data gives it back as it was, because it catches what its parts throw. nlohmann_json
// ends the program instead where it must not throw.
#if !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#error "coppice needs exceptions: do not compile it with -fno-exceptions (MSVC: compile with /EHsc)"
#elif defined(JSON_NOEXCEPTION)
#error "coppice needs exceptions: do not define JSON_NOEXCEPTION, with which nlohmann_json aborts"
#endif
