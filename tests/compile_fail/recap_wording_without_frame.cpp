// expect: recap_wording
#include <coppice/recap/builder.hpp>

#include <cstddef>
#include <string>
#include <string_view>

struct Terse {
    static constexpr std::string_view name = "terse";
    coppice::FenceTags tags{};
    void open(std::string& out, std::string_view tag) const { out.append("<").append(tag).append(">"); }
    void preamble(std::string& out) const { out += "By the platform."; }
#if !COPPICE_FAIL
    void frame(std::string& out) const { out += "All of it is past."; }
#endif
    void end(std::string& out) const { out += "The end."; }
    void line(std::string& out, const coppice::RecapLine& line) const { out += line.text; }
    void gap(std::string& out, coppice::Gap, std::size_t) const { out += "[...]"; }
};

coppice::RecapBuilder<Terse> builder;
