// SPDX-License-Identifier: GPL-2.0-or-later
#include "invariants.hpp"

#include "cmdline/predict.hpp"
#include "cmdline/tokenise.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace peerpath::test {
namespace {

using namespace cmdline;

using Broken = std::optional<std::string>;

constexpr std::array architectures = {Arch::x86_64, Arch::arm64, Arch::other};
constexpr std::array vendors = {Vendor::unknown, Vendor::intel, Vendor::amd};
constexpr std::array versions = {KernelVersion{4, 18}, KernelVersion{5, 10}, KernelVersion{6, 1},
                                 KernelVersion{6, 12}, KernelVersion{6, 17}};

bool only_separators(std::string_view text) {
  return std::ranges::all_of(text, is_separator);
}

bool lies_in(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

Broken broken_token(const Token& token, std::string_view text) {
  if (token.text.empty()) return "a word is empty";
  if (token.text != text.substr(token.offset, token.text.size())) return "a word isn't its slice";
  if (!lies_in(token.name, token.text)) return "a name lies outside its word";
  if (token.value && !lies_in(*token.value, token.text)) return "a value lies outside its word";
  if (token.value && token.value->data() <= token.name.data()) return "a value before its name";
  const bool separated = std::ranges::any_of(token.text, is_separator);
  if (separated && token.text.find('"') == token.text.npos) return "white space without a quote";
  if (token.open_quote && token.end() != text.size()) return "an open quote before the end";
  const auto quotes = std::ranges::count(token.text, '"');
  if (token.open_quote != (quotes % 2 == 1)) return "an open quote isn't an odd number of quotes";
  return std::nullopt;
}

Broken broken_tokens(const std::vector<Token>& tokens, std::string_view text) {
  std::size_t end = 0;
  bool for_init = false;
  for (const auto& token : tokens) {
    if (token.offset < end || token.end() > text.size()) return "words overlap or pass the end";
    if (!only_separators(text.substr(end, token.offset - end))) return "text between words is lost";
    if (end > 0 && token.offset == end) return "two words touch";
    if (token.for_init != for_init) return "not exactly the words after '--' are init's";
    if (auto broken = broken_token(token, text)) return broken;
    for_init = for_init || token.ends_parameters();
    end = token.end();
  }
  if (!only_separators(text.substr(end))) return "text after the last word is lost";
  return std::nullopt;
}

bool is_slice(const Word& word, std::string_view text) {
  return word.offset < text.size() && text.substr(word.offset, word.text.size()) == word.text;
}

Broken broken_judgement(const Judgement& judgement, std::string_view text, Arch arch) {
  if (judgement.decided_by.has_value() != (judgement.mode != Mode::kernel_default)) {
    return "a mode without the word that decided it, or a word without a mode";
  }
  if (const auto& word = judgement.decided_by) {
    if (!is_slice(*word, text)) return "the deciding word isn't its slice";
    if (word->asks_for != judgement.mode) return "the deciding word asks for another mode";
    if (word->offset >= kept_bytes(arch))
      return "the deciding word is beyond what the kernel keeps";
  }
  for (const auto& entry : judgement.ignored) {
    if (!is_slice(entry.word, text)) return "an ignored word isn't its slice";
    if (entry.reason.empty()) return "an ignored word without a reason";
  }
  const auto offset = [](const Ignored& entry) { return entry.word.offset; };
  if (!std::ranges::is_sorted(judgement.ignored, {}, offset)) return "ignored words out of order";
  if (arch != Arch::x86_64 && judgement.mode == Mode::off) return "off, but not x86";
  const bool contradicts = contradicts_passthrough(judgement).has_value();
  if (contradicts != (judgement.mode == Mode::translated)) return "contradiction isn't translated";
  return std::nullopt;
}

Broken broken_prediction(const Judgement& judgement, IommuKind iommu, KernelVersion version) {
  const Platform platform{iommu, DefaultDomain::lazy, true, version};
  const auto type = predict(judgement, platform).type;
  if ((judgement.mode == Mode::off) != (type == GroupType::none)) return "off and a group, or not";
  if (type == GroupType::identity && judgement.mode != Mode::passthrough) {
    return "identity without passthrough";
  }
  return std::nullopt;
}

bool untranslated(std::string_view text, Arch arch) {
  return is_untranslated(judge(text, arch).mode);
}

/// However a boot loader cuts a long line, it's no worse than what was judged.
Broken broken_cut(const std::vector<Token>& tokens, std::string_view text, Arch arch) {
  if (!untranslated(text, arch)) return std::nullopt;
  const auto kept = kept_bytes(arch);
  if (!untranslated(text.substr(0, kept), arch)) {
    return "untranslated, but not when cut in the middle of a word";
  }
  for (const auto& token : tokens) {
    if (token.end() <= kept || token.offset >= kept) continue;
    if (!untranslated(text.substr(0, token.offset), arch)) {
      return "untranslated, but not when cut before a word";
    }
  }
  return std::nullopt;
}

/// The last word wins, and words for init never count.
Broken broken_append(const std::vector<Token>& tokens, std::string_view text, Arch arch) {
  constexpr std::size_t longest_appended = 32;
  const bool open = !tokens.empty() && (tokens.back().open_quote || tokens.back().for_init ||
                                        tokens.back().ends_parameters());
  if (open || text.size() + longest_appended > kept_bytes(arch)) return std::nullopt;
  const auto mode_with = [&](std::string_view words) {
    return judge(std::string(text) + " " + std::string(words), arch).mode;
  };
  if (!is_untranslated(mode_with(passthrough_word(arch)))) return "our word at the end lost";
  const auto contrary = mode_with("iommu.passthrough=0");
  if (contrary != Mode::translated && contrary != Mode::off) return "a contrary word lost";
  const auto mode = judge(text, arch).mode;
  if (mode_with("-- iommu=pt iommu=off") != mode) return "a word for init counted";
  if (mode_with("-- iommu.passthrough=0") != mode) return "a word for init counted";
  return std::nullopt;
}

Broken broken_with_vendor(const Judgement& judgement, Arch arch, KernelVersion version,
                          Vendor vendor) {
  if (arch == Arch::arm64) return broken_prediction(judgement, IommuKind::smmu, version);
  if (arch != Arch::x86_64 || vendor == Vendor::unknown) return std::nullopt;
  const auto iommu = vendor == Vendor::intel ? IommuKind::intel : IommuKind::amd;
  return broken_prediction(judgement, iommu, version);
}

/// Every version and vendor. What isn't known must never make the answer better.
Broken broken_judgements(std::string_view text, Arch arch) {
  bool older = false;
  for (const auto version : versions) {
    bool now = false;
    for (const auto vendor : vendors) {
      const auto judgement = judge(text, arch, version, vendor);
      if (auto broken = broken_judgement(judgement, text, arch)) return broken;
      if (auto broken = broken_with_vendor(judgement, arch, version, vendor)) return broken;
      if (vendor == Vendor::unknown) now = is_untranslated(judgement.mode);
      if (now && !is_untranslated(judgement.mode)) {
        return "untranslated with an unknown vendor, but not with each vendor";
      }
    }
    if (older && !now) return "untranslated, but not with a newer kernel";
    older = now;
  }
  return std::nullopt;
}

}  // namespace

Broken broken_invariant(std::string_view whole) {
  const auto text = whole.substr(0, whole.find('\0'));
  const auto tokens = tokenise(whole);
  if (auto broken = broken_tokens(tokens, text)) return broken;
  for (const auto arch : architectures) {
    if (auto broken = broken_judgements(text, arch)) return broken;
    if (auto broken = broken_cut(tokens, text, arch)) return broken;
    if (auto broken = broken_append(tokens, text, arch)) return broken;
    if (judge(whole, arch).mode != judge(text, arch).mode) return "text after a NUL byte counted";
  }
  return std::nullopt;
}

}  // namespace peerpath::test
