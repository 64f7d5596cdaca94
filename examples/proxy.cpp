// SPDX-License-Identifier: MIT
// How does a proxy shorten requests that it passes on? It prunes their bytes and sends the pieces in one vectored
// write, without parsing them into a document and without joining them.
#include "session_generator.hpp"

#include <coppice/presets/standard.hpp>
#include <coppice/wire.hpp>

#include <fmt/format.h>

#include <climits>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

namespace {

// All of it, in as many calls as it takes: a call takes so many pieces only, and may write less than it was given.
bool send(int to, std::vector<iovec> pieces) {
    std::size_t at = 0;
    while (at < pieces.size()) {
        const std::size_t count = pieces.size() - at < IOV_MAX ? pieces.size() - at : IOV_MAX;
        const ssize_t written = writev(to, pieces.data() + at, static_cast<int>(count));
        if (written < 0) { return false; }
        auto left = static_cast<std::size_t>(written);
        for (; at < pieces.size() && left >= pieces[at].iov_len; ++at) { left -= pieces[at].iov_len; }
        if (left > 0) {
            pieces[at] = {static_cast<char*>(pieces[at].iov_base) + left, pieces[at].iov_len - left};
        }
    }
    return true;
}

bool pass_on(std::string_view body, int to, coppice::WireWorkspace& workspace) {
    static constexpr auto pruner = coppice::presets::standard();
    const auto pieces = coppice::prune_pieces(body, pruner, workspace);
    std::size_t length = 0;
    for (const std::string_view piece : pieces) { length += piece.size(); }

    std::string head = fmt::format("POST /v1/messages HTTP/1.1\r\nContent-Length: {}\r\n\r\n", length);
    std::vector<iovec> out = {{head.data(), head.size()}};
    for (const std::string_view piece : pieces) {
        out.push_back({const_cast<char*>(piece.data()), piece.size()});
    }
    return send(to, std::move(out));
}

}  // namespace

int main() {
    coppice::WireWorkspace workspace;  // one for each thread
    std::FILE* const upstream = std::tmpfile();
    for (const std::size_t results : {std::size_t{50}, std::size_t{200}, std::size_t{400}}) {
        coppice_examples::SessionShape shape;
        shape.results = results;
        const std::string body = coppice_examples::make_session(shape).dump();
        if (!pass_on(body, fileno(upstream), workspace)) { return 1; }
        const coppice::Report& report = workspace.report;
        fmt::print("{:>7} bytes came in, {:>7} went out{}\n", body.size(), body.size() - report.saved_bytes,
                   report.engaged ? "" : ": " + report.why);
    }
}
