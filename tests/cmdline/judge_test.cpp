// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's parsers case by case; truth_table_test.cpp has the table.
#include "cmdline/judge.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace peerpath::cmdline;
using namespace std::literals;

namespace {

constexpr auto x86 = Arch::x86_64;
constexpr auto arm = Arch::arm64;

Mode mode_of(std::string_view line, Arch arch = x86,
             std::optional<KernelVersion> version = std::nullopt, Vendor vendor = Vendor::unknown) {
  return judge(line, arch, version, vendor).mode;
}

/// "WORD: REASON" of each.
std::vector<std::string> ignored_in(const Judgement& judgement) {
  std::vector<std::string> result;
  for (const auto& entry : judgement.ignored)
    result.push_back(entry.word.text + ": " + entry.reason);
  return result;
}

std::vector<std::string> ignored(std::string_view line, Arch arch = x86,
                                 std::optional<KernelVersion> version = std::nullopt,
                                 Vendor vendor = Vendor::unknown) {
  return ignored_in(judge(line, arch, version, vendor));
}

using List = std::vector<std::string>;

/// A line of which `word` is the end, at `length` bytes.
std::string line_ending_at(std::size_t length, std::string_view word) {
  return std::string(length - word.size() - 1, 'x') + " " + std::string(word);
}

}  // namespace

TEST_CASE("judge: no word about it → kernel default, nothing decided, nothing ignored") {
  for (const auto* line : {"", "quiet splash root=UUID=1 ro", "intel_iommu=on", "iommu=soft",
                           "iommu=force,merge", "arm-smmu.disable_bypass=0", "peerpath=off"}) {
    CAPTURE(line);
    const auto judgement = judge(line, x86);
    CHECK(judgement.mode == Mode::kernel_default);
    CHECK_FALSE(judgement.decided_by.has_value());
    CHECK(judgement.ignored.empty());
  }
}

TEST_CASE("judge: the deciding word → as written, with its place and what it asks for") {
  const auto judgement = judge("quiet \"iommu=pt\" ro", x86);
  REQUIRE(judgement.decided_by.has_value());
  CHECK(judgement.decided_by->text == "\"iommu=pt\"");
  CHECK(judgement.decided_by->offset == 6);
  CHECK(judgement.decided_by->asks_for == Mode::passthrough);
}

TEST_CASE("iommu=: prefixes with case in a comma list → the last of pt and nopt") {
  CHECK(mode_of("iommu=pt") == Mode::passthrough);
  CHECK(mode_of("iommu=pt;quiet") == Mode::passthrough);
  CHECK(mode_of("iommu=soft,pt") == Mode::passthrough);
  CHECK(mode_of("iommu=,,pt,") == Mode::passthrough);
  CHECK(mode_of("iommu=pt,nopt") == Mode::translated);
  CHECK(mode_of("iommu=noptx") == Mode::translated);
  CHECK(mode_of("iommu=xpt") == Mode::kernel_default);
  CHECK(mode_of("iommu=p") == Mode::kernel_default);
  CHECK(mode_of("iommu= pt") == Mode::kernel_default);
}

TEST_CASE("iommu=: usedac → the rest of that value isn't read, the next word is") {
  CHECK(mode_of("iommu=usedac,pt") == Mode::kernel_default);
  CHECK(mode_of("iommu=pt,usedac,nopt") == Mode::passthrough);
  CHECK(mode_of("iommu=usedac iommu=pt") == Mode::passthrough);
}

TEST_CASE("iommu=: off → off whatever follows") {
  CHECK(mode_of("iommu=off") == Mode::off);
  CHECK(mode_of("iommu=offline") == Mode::off);
  CHECK(mode_of("iommu=off iommu=nopt iommu.passthrough=0") == Mode::off);
  CHECK(mode_of("iommu=nopt iommu=off intel_iommu=on") == Mode::off);
  CHECK(mode_of("iommu=usedac,off") == Mode::kernel_default);
}

TEST_CASE("iommu=: on arm64 and others → nothing") {
  CHECK(mode_of("iommu=pt", arm) == Mode::kernel_default);
  CHECK(mode_of("iommu=off", arm) == Mode::kernel_default);
  CHECK(mode_of("iommu=pt", Arch::other) == Mode::kernel_default);
  CHECK(mode_of("iommu.passthrough=1 iommu=nopt", arm) == Mode::passthrough);
}

TEST_CASE("iommu.passthrough=: the first character decides, two for on and off") {
  for (const auto* yes : {"1", "y", "Y", "yes", "on", "On", "oN", "true", "T", "1foo", "\"1\""}) {
    CAPTURE(yes);
    CHECK(mode_of("iommu.passthrough="s + yes) == Mode::passthrough);
    CHECK(mode_of("iommu.passthrough="s + yes, arm) == Mode::passthrough);
  }
  for (const auto* no : {"0", "n", "N", "no", "off", "of", "OF", "false", "F", "disable"}) {
    CAPTURE(no);
    CHECK(mode_of("iommu.passthrough="s + no) == Mode::translated);
  }
  for (const auto* neither : {"", "o", "ox", "2", "x", " 1", "'1'", "-1", "enable"}) {
    CAPTURE(neither);
    CHECK(mode_of("iommu.passthrough="s + neither) == Mode::kernel_default);
    CHECK(mode_of("iommu=pt iommu.passthrough="s + neither) == Mode::passthrough);
  }
  CHECK(mode_of("iommu.passthrough") == Mode::kernel_default);
}

TEST_CASE("iommu.passthrough=: letters for yes → believed only where the kernel is known to") {
  CHECK(mode_of("iommu.passthrough=t", x86, KernelVersion{5, 17}) == Mode::kernel_default);
  CHECK(mode_of("iommu.passthrough=t", x86, KernelVersion{5, 18}) == Mode::kernel_default);
  CHECK(mode_of("iommu.passthrough=t", x86, KernelVersion{5, 19}) == Mode::passthrough);
  CHECK(mode_of("iommu.passthrough=E", arm, KernelVersion{6, 14}) == Mode::kernel_default);
  CHECK(mode_of("iommu.passthrough=E", arm, KernelVersion{6, 16}) == Mode::kernel_default);
  CHECK(mode_of("iommu.passthrough=E", arm, KernelVersion{6, 17}) == Mode::passthrough);
}

TEST_CASE("iommu.passthrough=: letters for no → believed always, backports being possible") {
  CHECK(mode_of("iommu=pt iommu.passthrough=f", x86, KernelVersion{5, 14}) == Mode::translated);
  CHECK(mode_of("iommu=pt iommu.passthrough=D", x86, KernelVersion{6, 1}) == Mode::translated);
}

TEST_CASE("iommu.passthrough=: on x86 before 5.4 → yes only where the IOMMU is AMD's, no always") {
  const KernelVersion old{4, 19};
  CHECK(mode_of("iommu.passthrough=1", x86, old) == Mode::kernel_default);
  CHECK(mode_of("iommu.passthrough=1", x86, old, Vendor::intel) == Mode::kernel_default);
  CHECK(mode_of("iommu.passthrough=1", x86, old, Vendor::amd) == Mode::passthrough);
  CHECK(mode_of("iommu.passthrough=1", arm, old) == Mode::passthrough);
  CHECK(mode_of("iommu.passthrough=1", x86, KernelVersion{5, 3}) == Mode::kernel_default);
  CHECK(mode_of("iommu.passthrough=1", x86, KernelVersion{5, 4}) == Mode::passthrough);
  CHECK(mode_of("iommu=pt iommu.passthrough=0", x86, old) == Mode::translated);
  CHECK(mode_of("iommu=pt", x86, old) == Mode::passthrough);
}

TEST_CASE("names: - for _ → the same option; dots and case → not") {
  CHECK(mode_of("intel-iommu=off", x86, {}, Vendor::intel) == Mode::off);
  CHECK(mode_of("iommu-passthrough=1") == Mode::kernel_default);
  CHECK(mode_of("iommu_passthrough=1") == Mode::kernel_default);
  CHECK(mode_of("IOMMU=pt") == Mode::kernel_default);
}

TEST_CASE("intel_iommu=: off → off for Intel's only; the last of on and off counts") {
  CHECK(mode_of("intel_iommu=off", x86, {}, Vendor::intel) == Mode::off);
  CHECK(mode_of("intel_iommu=sm_on,off", x86, {}, Vendor::intel) == Mode::off);
  CHECK(mode_of("intel_iommu=on,off iommu=nopt", x86, {}, Vendor::intel) == Mode::off);
  CHECK(mode_of("intel_iommu=off,on", x86, {}, Vendor::intel) == Mode::kernel_default);
  CHECK(mode_of("intel_iommu=off intel_iommu=on", x86, {}, Vendor::intel) == Mode::kernel_default);
  CHECK(mode_of("intel_iommu=igfx_off", x86, {}, Vendor::intel) == Mode::kernel_default);
  CHECK(mode_of("intel_iommu=off", x86, {}, Vendor::amd) == Mode::kernel_default);
  CHECK(mode_of("intel_iommu=off", arm, {}, Vendor::intel) == Mode::kernel_default);
}

TEST_CASE("amd_iommu=: off → off for AMD's only; nothing takes it back") {
  CHECK(mode_of("amd_iommu=off", x86, {}, Vendor::amd) == Mode::off);
  CHECK(mode_of("amd_iommu=fullflush,off", x86, {}, Vendor::amd) == Mode::off);
  CHECK(mode_of("amd_iommu=off amd_iommu=force_enable", x86, {}, Vendor::amd) == Mode::off);
  CHECK(mode_of("amd_iommu=off", x86, {}, Vendor::intel) == Mode::kernel_default);
}

TEST_CASE("amd_iommu=: off in the middle of an item → off up to 6.0 only") {
  CHECK(mode_of("amd_iommu=xoff", x86, KernelVersion{6, 0}, Vendor::amd) == Mode::off);
  CHECK(mode_of("amd_iommu=xoff", x86, KernelVersion{6, 1}, Vendor::amd) == Mode::kernel_default);
}

TEST_CASE("vendor unknown: a vendor's off → never off, the other words decide") {
  CHECK(mode_of("intel_iommu=off") == Mode::kernel_default);
  CHECK(mode_of("amd_iommu=off") == Mode::kernel_default);
  CHECK(mode_of("intel_iommu=off amd_iommu=off") == Mode::kernel_default);
  CHECK(mode_of("intel_iommu=off iommu=nopt") == Mode::translated);
  CHECK(mode_of("intel_iommu=off iommu=pt") == Mode::passthrough);
  CHECK(mode_of("iommu=off") == Mode::off);
}

TEST_CASE("length: a word beyond what the kernel keeps → not in force") {
  CHECK(mode_of(line_ending_at(2047, "iommu=pt")) == Mode::passthrough);
  CHECK(mode_of(line_ending_at(2048, "iommu=pt")) == Mode::kernel_default);
  CHECK(mode_of(line_ending_at(3000, "iommu=off")) == Mode::kernel_default);
  CHECK(mode_of(line_ending_at(3000, "iommu.passthrough=1"), arm) == Mode::kernel_default);
  CHECK(mode_of("iommu=pt " + line_ending_at(3000, "iommu=nopt")) == Mode::passthrough);
  CHECK(ignored(line_ending_at(3000, "iommu=pt")) ==
        List{"iommu=pt: beyond the 2047 bytes that the kernel keeps of a command line"});
}

TEST_CASE("length: a word across the limit → in force only where what is left translates") {
  CHECK(mode_of(line_ending_at(2050, "iommu=pt,abc")) == Mode::kernel_default);
  CHECK(mode_of(line_ending_at(2050, "iommu=off,abc")) == Mode::kernel_default);
  CHECK(mode_of("iommu=pt " + line_ending_at(2041, "iommu=nopt,abc")) == Mode::translated);
  CHECK(mode_of("iommu=pt " + line_ending_at(2039, "iommu=nopt,pt")) == Mode::translated);
  CHECK(mode_of("iommu=pt " + line_ending_at(2039, "iommu=nopt")) == Mode::passthrough);
}

TEST_CASE("length: Intel's on across the limit → takes its off back") {
  const auto line = "intel_iommu=off " + line_ending_at(2034, "intel_iommu=on,sm");
  CHECK(mode_of(line, x86, {}, Vendor::intel) == Mode::kernel_default);
}

TEST_CASE("ignored: overridden words → name the later one, and keep what they ask for") {
  const auto judgement = judge("iommu=pt quiet iommu=nopt", x86);
  CHECK(ignored_in(judgement) == List{"iommu=pt: overridden by 'iommu=nopt'"});
  CHECK(judgement.ignored.at(0).word.asks_for == Mode::passthrough);
  CHECK(judgement.ignored.at(0).word.offset == 0);
  CHECK(ignored("iommu.passthrough=0 iommu=pt") ==
        List{"iommu.passthrough=0: overridden by 'iommu=pt'"});
  CHECK(ignored("intel_iommu=off intel_iommu=on") ==
        List{"intel_iommu=off: overridden by 'intel_iommu=on'"});
  CHECK(ignored("intel_iommu=on intel_iommu=off", x86, {}, Vendor::intel) ==
        List{"intel_iommu=on: overridden by 'intel_iommu=off'"});
}

TEST_CASE("ignored: a word that says the same as the deciding one → isn't among them") {
  CHECK(ignored("iommu=pt iommu.passthrough=1").empty());
  CHECK(ignored("iommu=nopt,pt").empty());
  CHECK(ignored("intel_iommu=off,on").empty());
  CHECK(ignored("intel_iommu=on,off", x86, {}, Vendor::intel).empty());
  CHECK(ignored("amd_iommu=off,on", x86, {}, Vendor::amd).empty());
  CHECK(ignored("iommu=off,pt").empty());
}

TEST_CASE("ignored: a domain asked for where translation is off → says what turned it off") {
  CHECK(ignored("iommu=pt iommu=off") == List{"iommu=pt: 'iommu=off' turns translation off"});
}

TEST_CASE("ignored: a vendor's off → says whose it is") {
  CHECK(ignored("intel_iommu=off") ==
        List{"intel_iommu=off: heeded only by an Intel IOMMU, and whose it is isn't known"});
  CHECK(ignored("amd_iommu=off") ==
        List{"amd_iommu=off: heeded only by an AMD IOMMU, and whose it is isn't known"});
  CHECK(ignored("intel_iommu=off", x86, {}, Vendor::amd) ==
        List{"intel_iommu=off: heeded only by an Intel IOMMU"});
  CHECK(ignored("intel_iommu=on", x86, {}, Vendor::amd) ==
        List{"intel_iommu=on: heeded only by an Intel IOMMU"});
  CHECK(ignored("amd_iommu=off", x86, {}, Vendor::intel) ==
        List{"amd_iommu=off: heeded only by an AMD IOMMU"});
}

TEST_CASE("ignored: options of x86 elsewhere → no meaning there") {
  CHECK(ignored("iommu=pt", arm) == List{"iommu=pt: 'iommu=' has no meaning on arm64"});
  CHECK(ignored("intel_iommu=off", arm) ==
        List{"intel_iommu=off: 'intel_iommu=' has no meaning on arm64"});
  CHECK(ignored("iommu=pt", Arch::other) ==
        List{"iommu=pt: 'iommu=' has no meaning on this architecture"});
}

TEST_CASE("ignored: words for init → after '--'") {
  const auto judgement = judge("quiet -- iommu=nopt 3", x86);
  CHECK(ignored_in(judgement) == List{"iommu=nopt: after '--'"});
  CHECK(judgement.ignored.at(0).word.asks_for == Mode::translated);
}

TEST_CASE("ignored: what is no option → says so") {
  CHECK(ignored("intel_iommu=pt") ==
        List{"intel_iommu=pt: 'pt' is not an option of 'intel_iommu='"});
  CHECK(ignored("intel_iommu=on,pt") ==
        List{"intel_iommu=on,pt: 'pt' is not an option of 'intel_iommu='"});
  CHECK(ignored("amd_iommu=pt") == List{"amd_iommu=pt: 'pt' is not an option of 'amd_iommu='"});
  CHECK(ignored("amd_iommu=on") == List{"amd_iommu=on: 'on' is not an option of 'amd_iommu='"});
  CHECK(ignored("iommu=on") == List{"iommu=on: 'on' is not an option of 'iommu='"});
  CHECK(ignored("iommu=passthrough") ==
        List{"iommu=passthrough: 'passthrough' is not an option of 'iommu='"});
  CHECK(judge("intel_iommu=pt", x86).ignored.at(0).word.asks_for == Mode::passthrough);
  CHECK(judge("amd_iommu=on", x86).ignored.at(0).word.asks_for == Mode::kernel_default);
}

TEST_CASE("ignored: case → says so") {
  CHECK(ignored("iommu=PT") == List{"iommu=PT: upper and lower case differ"});
  CHECK(ignored("intel_iommu=OFF") == List{"intel_iommu=OFF: upper and lower case differ"});
  CHECK(ignored("IOMMU=pt") ==
        List{"IOMMU=pt: upper and lower case differ: the kernel's name is 'iommu'"});
}

TEST_CASE("ignored: single quotes, and double ones within a word → don't quote") {
  CHECK(ignored("iommu='pt'") == List{"iommu='pt': single quotes don't quote"});
  CHECK(ignored("'iommu=pt'") == List{"'iommu=pt': single quotes don't quote"});
  CHECK(ignored("iommu.passthrough='1'") ==
        List{"iommu.passthrough='1': single quotes don't quote"});
  CHECK(ignored("iommu=p\"t\"") == List{"iommu=p\"t\": quotes within a word are part of it"});
  CHECK(ignored("\"iommu\"=pt") == List{"\"iommu\"=pt: quotes within a word are part of it"});
}

TEST_CASE("ignored: another name → says the kernel's") {
  CHECK(ignored("iommu-passthrough=1") ==
        List{"iommu-passthrough=1: not an option of the kernel, which has 'iommu.passthrough'"});
  CHECK(ignored("intel.iommu=off") ==
        List{"intel.iommu=off: not an option of the kernel, which has 'intel_iommu'"});
}

TEST_CASE("ignored: no value → needs one") {
  CHECK(ignored("iommu = pt") == List{"iommu: needs a value"});
  CHECK(ignored("iommu.passthrough") == List{"iommu.passthrough: needs a value"});
  CHECK(ignored("iommu.passthrough=") == List{"iommu.passthrough=: needs a value"});
}

TEST_CASE("ignored: neither yes nor no → says so, and which version doesn't take it") {
  CHECK(ignored("iommu.passthrough=pt") ==
        List{"iommu.passthrough=pt: 'pt' is neither yes nor no to the kernel"});
  CHECK(ignored("iommu.passthrough=true", x86, KernelVersion{5, 10}) ==
        List{"iommu.passthrough=true: Linux 5.10 isn't known to take 'true' for yes"});
  CHECK(judge("iommu.passthrough=pt", x86).ignored.at(0).word.asks_for == Mode::passthrough);
}

TEST_CASE("ignored: iommu.passthrough=1 on an old x86 kernel → says since when") {
  CHECK(ignored("iommu.passthrough=1", x86, KernelVersion{4, 19}) ==
        List{"iommu.passthrough=1: heeded by Linux 5.4 and later, and before only where the IOMMU "
             "is AMD's"});
}

TEST_CASE("ignored: usedac → says that it ends the list") {
  CHECK(ignored("iommu=usedac,pt") == List{"iommu=usedac,pt: 'usedac' before it ends the list"});
  CHECK(ignored("iommu=pt,usedac,nopt") ==
        List{"iommu=pt,usedac,nopt: 'usedac' before it ends the list"});
}

TEST_CASE("ignored: words in quotes → the words themselves, at their place") {
  const auto judgement = judge("x=\"a iommu=pt", x86);
  CHECK(ignored_in(judgement) == List{"iommu=pt: swallowed by a quote that has no end"});
  CHECK(judgement.ignored.at(0).word.offset == 5);
  CHECK(ignored("x=\"iommu=pt b\" ro") == List{"iommu=pt: in the quotes of another"});
  CHECK(ignored("\"iommu=pt quiet\"").empty());
  CHECK(mode_of("iommu=\"pt quiet ro") == Mode::passthrough);
}

TEST_CASE("ignored: several → in the command line's order") {
  CHECK(ignored("iommu=PT iommu=nopt iommu=on iommu=pt") ==
        List{"iommu=PT: upper and lower case differ", "iommu=nopt: overridden by 'iommu=pt'",
             "iommu=on: 'on' is not an option of 'iommu='"});
}

TEST_CASE("contradicts_passthrough: a word for translation in force → that word") {
  const auto word = contradicts_passthrough(judge("iommu=pt iommu=nopt", x86));
  REQUIRE(word.has_value());
  CHECK(word->text == "iommu=nopt");
}

TEST_CASE("contradicts_passthrough: overridden, off, or nothing said → none") {
  for (const auto* line : {"", "iommu=nopt iommu=pt", "iommu=off iommu=nopt", "-- iommu=nopt"}) {
    CAPTURE(line);
    CHECK_FALSE(contradicts_passthrough(judge(line, x86)).has_value());
  }
}

TEST_CASE("passthrough_word: alone on the line → passthrough, on each architecture") {
  CHECK(passthrough_word(x86) == "iommu=pt");
  CHECK(passthrough_word(arm) == "iommu.passthrough=1");
  for (const auto arch : {x86, arm, Arch::other}) {
    CHECK(mode_of(passthrough_word(arch), arch) == Mode::passthrough);
  }
}

TEST_CASE("is_untranslated: passthrough and off → yes; translated and the kernel's default → no") {
  CHECK(is_untranslated(Mode::passthrough));
  CHECK(is_untranslated(Mode::off));
  CHECK_FALSE(is_untranslated(Mode::translated));
  CHECK_FALSE(is_untranslated(Mode::kernel_default));
}
