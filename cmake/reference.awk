# What the reference says of members that a concept asks for, or that every class has: the same everywhere, so that the
# headers do not repeat it. Doxygen reads the headers through this. A comment of a member's own stands.
function say(text) {
    if (previous !~ /^ *\/\/\// && $0 !~ /\/\/\/</) {
        print indent "/// " text
    }
}
BEGIN {
    policy = "Plans what the policy changes: policies are asked one after the other."
    numbers = "Throws std::invalid_argument where a number makes no sense; in constexpr use that is a compile error."
}
# which of them a name stands in is no matter of its users
{ sub(/::inline v[0-9]+/, "") }
{ indent = $0; sub(/[^ ].*/, "", indent) }
# what a policy keeps, changes and does nothing to stands in columns there
/^ *\/\/\/ keeps  +/        { sub(/keeps +/, "- **keeps** ") }
/^ *\/\/\/ changes  +/      { sub(/changes +/, "- **changes** ") }
/^ *\/\/\/ does nothing  +/ { sub(/does nothing +/, "- **does nothing** ") }
/^ *static constexpr std::string_view name = /     { say("Its name in reports and configurations.") }
/^ *constexpr void validate\(\) const/              { say(numbers) }
/^ *void apply\(const Transcript&/                  { say(policy) }
/^ *bool allows\(const Transcript&/                 { say("Whether a proposed change may be made.") }
/^ *(constexpr )?bool moves\(State&/                { say("Whether the history may change with this request.") }
/^ *struct State \{\};/                             { say("It remembers nothing from request to request.") }
/ operator==\(.*= default;/                         { say("Whether all members are equal.") }
/ operator<=>\(.*= default;/                        { say("Compares member by member.") }
/^ *using (on_arrival|needs_[a-z]*) = /             { say("Tells the pipeline what the policy needs.") }
/\((const )?[A-Z][A-Za-z]*&&?\)( noexcept)? = default;/ { say("Copies or moves it.") }
/^ *static constexpr .* tools\{?/                   { say("Names of the tools that it knows.") }
/^ *void summarise\(std::string& out/               { say("Appends what the call did.") }
/^ *void result\(std::string& out/                  { say("Appends the stub of a result.") }
/^ *void field\(std::string& out/                   { say("Appends the stub of a field of an input.") }
/^ *void image\(std::string& out/                   { say("Appends the stub of an image.") }
/^ *void preview\(std::string& out/                 { say("Appends the preview of a stored result.") }
/^ *Recognised recognise\(std::string_view/         { say("What a text is: content, or one of its own.") }
/^ *std::size_t marker\(std::string_view/           { say("How many bytes at the front of a text are a marker of its own.") }
/^ *static constexpr char opening = /               { say("What each of its texts begins with.") }
/^ *static constexpr std::size_t longest = /        { say("Bytes of its longest stub.") }
/^ *static constexpr std::size_t identity_limit = / { say("Bytes of what a call named.") }
/^ *static constexpr std::size_t reference_limit = / { say("Bytes of the place of a stored content.") }
/^ *Shape shape = /                                 { say("How a cleared result is written.") }
{
    print
    previous = $0
}
