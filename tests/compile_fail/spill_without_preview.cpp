// expect: coppice::Pipeline: this wording writes no previews
#include <coppice/coppice.hpp>

#include <cstddef>
#include <string>
#include <string_view>

struct Terse {
    static constexpr std::string_view name = "terse";
    static constexpr std::size_t longest = 9;
    coppice::Shape shape = coppice::Shape::as_it_was;
    void result(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
    void field(std::string& out, const coppice::FieldFacts&) const { out += "[cleared]"; }
    void image(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
    coppice::Recognised recognise(std::string_view) const { return {}; }
};

#if COPPICE_FAIL
coppice::Pipeline<coppice::Spill<>, Terse> pipeline;
#else
coppice::Pipeline<coppice::Spill<>, coppice::OpenSwarmWording> pipeline;
#endif
