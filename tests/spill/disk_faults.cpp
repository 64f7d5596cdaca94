// SPDX-License-Identifier: MIT
#include <coppice/spill/disk.hpp>

#include "support/scratch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

using coppice::DiskSpillStore;
using namespace support;

namespace {

const std::vector<int> errors = {ENOSPC, EACCES, EIO,   EMFILE, EINTR, ENOENT,
                                 EEXIST, EDQUOT, EROFS, EINVAL, ENOMEM};

const std::string content = lines(0, 9000);

struct Situation {
    const char* name;
    std::function<void(const Scratch&)> prepare;
    FaultPlan plan{};
};

std::string reference_in(const Scratch& scratch) {
    return DiskSpillStore(scratch.root(), session("s")).reference("call_1", content);
}

void store_first(const Scratch& scratch, std::string_view text) {
    FaultyStore store(scratch.root(), session("s"));
    REQUIRE(store.put(store.reference("call_1", text), text));
}

const std::vector<Situation> situations = {
    {"nothing there", [](const Scratch&) {}},
    {"another content there", [](const Scratch& scratch) { store_first(scratch, "another"); }},
    {"the content there", [](const Scratch& scratch) { store_first(scratch, content); }},
    {"wide modes",
     [](const Scratch& scratch) {
         fs::create_directories(scratch.root() / "s-s");
         REQUIRE(::chmod((scratch.root() / "s-s").c_str(), 0755) == 0);
         ::umask(0777);
     }},
    {"short writes", [](const Scratch&) {}, {.short_writes = true}},
    {"no exclusive renaming", [](const Scratch&) {}, {.no_rename_new = true}},
    {"no locks", [](const Scratch&) {}, {.no_locks = true}},
    {"the name gets taken meanwhile",
     [](const Scratch& scratch) {
         FaultySystem::plan.before = [&scratch, done = false](Call call, const char*) mutable {
             if (call != Call::rename_new || done) { return; }
             done = true;
             // without the faults
             DiskSpillStore other(scratch.root(), session("s"));
             REQUIRE(other.put(reference_in(scratch), content));
         };
     }},
};

bool failed(Call call) {
    const std::vector<Call>& calls = FaultySystem::plan.failed;
    return std::find(calls.begin(), calls.end(), call) != calls.end();
}

// What `body` sees at each call that it makes, that call failing and perhaps all that follow.
void with_every_fault(const std::function<void(const Scratch&, const std::function<void()>&)>& body) {
    for (const Situation& situation : situations) {
        for (const bool lasting : {false, true}) {
            for (const int error : errors) {
                // a lasting EINTR is asked again for ever, and rightly
                if (lasting && error != EIO && error != ENOENT) { continue; }
                for (std::size_t at = 1; at < 1000; ++at) {
                    const ::mode_t mask = ::umask(022);
                    const Scratch scratch;
                    const Faults faults;
                    situation.prepare(scratch);
                    const auto arm = [&] {
                        FaultPlan plan = situation.plan;
                        plan.before = FaultySystem::plan.before;
                        plan.fail_at = at;
                        plan.error = error;
                        plan.lasting = lasting;
                        FaultySystem::plan = plan;
                    };
                    CAPTURE(situation.name);
                    CAPTURE(lasting);
                    CAPTURE(error);
                    CAPTURE(at);
                    body(scratch, arm);
                    ::umask(mask);
                    CHECK(scratch.untouched());
                    if (FaultySystem::plan.calls < at) { break; }
                    REQUIRE(at < 999);
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("disk store: whichever call fails a put promises only what is there and leaves no litter") {
    std::set<Call> seen;
    std::size_t refused = 0;
    std::size_t kept = 0;
    with_every_fault([&](const Scratch& scratch, const std::function<void()>& arm) {
        FaultyStore store(scratch.root(), session("s"));
        const std::string reference = reference_in(scratch);
        const std::size_t descriptors = open_descriptors();
        arm();
        const bool put = store.put(reference, content);
        const FaultPlan plan = FaultySystem::plan;
        const bool littered = failed(Call::unlink);
        seen.insert(plan.failed.begin(), plan.failed.end());
        CHECK(open_descriptors() == descriptors);
        FaultySystem::plan.fail_at = 0;
        FaultySystem::plan.before = [](Call, const char*) {};
        const bool there = store.get(reference) == content;
        CHECK((there || !put));
        CHECK((littered || scratch.temporaries().empty()));
        CHECK((put || plan.calls >= plan.fail_at));
        ++(put ? kept : refused);
        // a name is whole or not there
        const bool whole = !fs::exists(reference) || file_text(reference) == content;
        CHECK(whole);
        // and the next time it goes well
        CHECK(store.put(reference, content));
        const bool now = store.get(reference) == content;
        CHECK(now);
        CHECK(mode_of(reference) == 0600);
        CHECK(mode_of(scratch.root() / "s-s") == 0700);
        FaultySystem::plan.calls = plan.calls;
    });
    CHECK(refused > 1000);
    CHECK(kept > 100);
    for (const Call call :
         {Call::open, Call::make_directory, Call::status, Call::status_at, Call::change_mode, Call::read,
          Call::write, Call::sync, Call::close, Call::lock, Call::rename_new, Call::rename, Call::unlink,
          Call::open_listing, Call::next_entry, Call::close_listing}) {
        CAPTURE(static_cast<int>(call));
        CHECK(seen.contains(call));
    }
}

TEST_CASE("disk store: a signal between is no failure and a refusal says what the system said") {
    for (const int error : {EINTR, ENOSPC, EIO, EMFILE}) {
        for (const Call call : {Call::open, Call::write, Call::sync, Call::close}) {
            const Scratch scratch;
            const Faults faults;
            FaultyStore store(scratch.root(), session("s"));
            store_first(scratch, "another");
            bool armed = true;
            FaultySystem::plan.before = [&](Call now, const char* name) {
                const bool file = call != Call::open || coppice::detail::is_temporary_name(name);
                if (now != call || !file || !armed) { return; }
                // for closing, the descriptor that was written
                if (call == Call::close && scratch.temporaries().empty()) { return; }
                armed = false;
                FaultySystem::plan.fail_at = FaultySystem::plan.calls + 1;
                FaultySystem::plan.error = error;
            };
            const std::error_code answer = store.try_put(reference_in(scratch), content);
            CHECK_FALSE(armed);
            CHECK(answer.value() == (error == EINTR ? 0 : error));
        }
    }
}

TEST_CASE("disk store: whichever call fails reading gives the content or nothing") {
    std::size_t read = 0;
    std::size_t nothing = 0;
    with_every_fault([&](const Scratch& scratch, const std::function<void()>& arm) {
        FaultyStore store(scratch.root(), session("s"));
        FaultySystem::plan.before = [](Call, const char*) {};
        REQUIRE(store.put(reference_in(scratch), content));
        const std::size_t descriptors = open_descriptors();
        arm();
        const auto got = store.get(reference_in(scratch));
        const bool right = !got || *got == content;
        CHECK(right);
        CHECK(open_descriptors() == descriptors);
        ++(got ? read : nothing);
    });
    CHECK(read > 0);
    CHECK(nothing > 0);
}

TEST_CASE("disk store: whichever call fails listing and removing report it and count what they did") {
    std::size_t reported = 0;
    for (int job = 0; job < 5; ++job) {
        for (const bool lasting : {false, true}) {
            for (const int error : {EIO, EACCES, EMFILE}) {
                for (std::size_t at = 1;; ++at) {
                    const Scratch scratch;
                    const Faults faults;
                    FaultyStore store(scratch.root(), session("s"));
                    for (std::size_t i = 0; i < 3; ++i) {
                        REQUIRE(store.put(store.reference("a", lines(i, 10)), lines(i, 10)));
                    }
                    const std::string half =
                        (scratch.root() / "s-s" / coppice::detail::temporary_name(1, 2)).string();
                    write_text(half, "half");
                    make_old(half);
                    const std::size_t descriptors = open_descriptors();
                    FaultySystem::plan = {.fail_at = at, .error = error, .lasting = lasting};
                    coppice::SpillManifest listed;
                    coppice::SpillRemoval removed;
                    if (job == 0) { listed = store.list(); }
                    if (job == 1) { listed = store.list_all(); }
                    if (job == 2) { removed = store.remove_session(); }
                    if (job == 3) {
                        removed = store.remove_unreferenced([](std::string_view) { return false; });
                    }
                    if (job == 4) {
                        removed.error = store.remove(store.reference("a", lines(0, 10)));
                        removed.contents = removed.error ? 0 : 1;
                    }
                    const std::vector<Call> failed_calls = FaultySystem::plan.failed;
                    const bool reached = FaultySystem::plan.calls >= at;
                    FaultySystem::plan = {};
                    CHECK(open_descriptors() == descriptors);
                    const coppice::SpillManifest left = store.list_all();
                    CHECK(left.contents.size() + removed.contents == 3);
                    CHECK(left.leftovers.size() + removed.leftovers == 1);
                    if (job < 2 && !listed.error) { CHECK(listed.contents == left.contents); }
                    reported += listed.error || removed.error ? 1U : 0U;
                    if (!reached) {
                        CHECK_FALSE(listed.error);
                        CHECK_FALSE(removed.error);
                        break;
                    }
                }
            }
        }
    }
    CHECK(reported > 50);
}
