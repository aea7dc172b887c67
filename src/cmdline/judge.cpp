// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/judge.hpp"

#include "cmdline/options.hpp"
#include "cmdline/tokenise.hpp"
#include "cmdline/wish.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::cmdline {
namespace {

/// Before 5.4 each vendor's driver had its own switch, that `iommu=pt` set; of the two only AMD's
/// heeded `iommu.passthrough=` as well.
constexpr KernelVersion unified_default_domain{5, 4};

/// A word that changed a switch.
struct Heeded {
  Word word;
  Switches change;
};

std::string quoted(const Word& word) {
  return fmt::format("'{}'", word.text);
}

Word word_at(const Token& token, Mode asks_for) {
  return Word{std::string(token.text), token.offset, asks_for};
}

Mode domain(bool passthrough) {
  return passthrough ? Mode::passthrough : Mode::translated;
}

bool turns_off(const Switches& change) {
  return change.iommu_off || change.amd_iommu_off || change.intel_iommu == false;
}

bool changes_anything(const Switches& change) {
  return change.passthrough || change.intel_iommu || change.strict || turns_off(change);
}

/// Whether the word did what it wishes for.
bool grants(const Switches& change, const Wish& wish) {
  switch (wish.asks_for) {
    case Mode::passthrough:
      return change.passthrough == true;
    case Mode::translated:
      return change.passthrough == false;
    case Mode::off:
      return turns_off(change);
    case Mode::kernel_default:
      return change.intel_iommu.has_value();
  }
  return false;
}

/// What is left of a change that may or may not come to the kernel: what makes it translate.
Switches only_translating(const Switches& change) {
  Switches doubtful;
  if (change.passthrough == false) doubtful.passthrough = false;
  if (change.intel_iommu == true) doubtful.intel_iommu = true;
  return doubtful;
}

class Replay {
 public:
  Replay(std::string_view line, Arch arch, KernelVersion version, Vendor vendor)
      : line_(line), arch_(arch), version_(version), vendor_(vendor) {}

  Judgement run() {
    for (const auto& token : tokenise(line_))
      read(token);
    decide();
    for (const auto& heeded : heeded_)
      note_if_overruled(heeded);
    std::ranges::stable_sort(judgement_.ignored, {},
                             [](const Ignored& entry) { return entry.word.offset; });
    return std::move(judgement_);
  }

 private:
  void read(const Token& token) {
    note_words_in_quotes(token);
    const auto wish = wish_of(token);
    if (const auto reason = out_of_place(token)) {
      const auto change = is_cut(token) ? only_translating(change_by(cut(token))) : Switches();
      heed(token, change);
      if (wish && !grants(change, *wish)) ignore(token, *wish, *reason);
      return;
    }
    const auto change = change_by(token);
    heed(token, change);
    if (wish && !grants(change, *wish)) ignore(token, *wish, why(token, *wish));
  }

  /// Why the kernel doesn't read the word at all.
  [[nodiscard]] std::optional<std::string> out_of_place(const Token& token) const {
    if (token.for_init) return "after '--'";
    if (token.end() <= kept_bytes(arch_)) return std::nullopt;
    return fmt::format("beyond the {} bytes that the kernel keeps of a command line",
                       kept_bytes(arch_));
  }

  /// Some boot loaders cut in the middle of a word, and some before it.
  [[nodiscard]] bool is_cut(const Token& token) const {
    return !token.for_init && token.offset < kept_bytes(arch_);
  }

  [[nodiscard]] Token cut(const Token& token) const {
    return tokenise(token.text.substr(0, kept_bytes(arch_) - token.offset)).front();
  }

  [[nodiscard]] Switches change_by(const Token& token) const {
    Switches change;
    if (!token.value) return change;
    if (same_name(token.name, "iommu.strict")) change.strict = read_bool(*token.value, version_);
    const auto option = option_of(token.name);
    if (option == Option::passthrough) change.passthrough = read_passthrough(*token.value);
    if (!option || arch_ != Arch::x86_64) return change;

    if (option == Option::iommu) {
      const auto iommu = read_iommu(*token.value);
      change.passthrough = iommu.passthrough;
      change.iommu_off = iommu.off;
    }
    if (option == Option::intel_iommu) change.intel_iommu = read_intel_iommu(*token.value);
    if (option == Option::amd_iommu) {
      change.amd_iommu_off = amd_iommu_is_off(*token.value, version_);
    }
    return change;
  }

  /// A yes that an old kernel may not heed isn't believed, but a no is: RHEL's 4.18 has 5.8's code
  /// from 8.3 on, and there the later of `iommu=pt` and `iommu.passthrough=0` wins.
  [[nodiscard]] std::optional<bool> read_passthrough(std::string_view value) const {
    const auto yes = read_bool(value, version_);
    if (yes == true && yes_is_for_amd_only() && vendor_ != Vendor::amd) return std::nullopt;
    return yes;
  }

  [[nodiscard]] bool yes_is_for_amd_only() const {
    return arch_ == Arch::x86_64 && version_ < unified_default_domain;
  }

  [[nodiscard]] std::string why(const Token& token, const Wish& wish) const {
    if (wish.option == Option::passthrough && option_of(token.name) == wish.option && token.value &&
        read_bool(*token.value, version_) == true) {
      return "heeded by Linux 5.4 and later, and before only where the IOMMU is AMD's";
    }
    return why_unheeded(token, wish, arch_, version_);
  }

  void heed(const Token& token, const Switches& change) {
    if (!changes_anything(change)) return;
    const auto asks_for = change.passthrough  ? domain(*change.passthrough)
                          : turns_off(change) ? Mode::off
                                              : Mode::kernel_default;
    heeded_.push_back({word_at(token, asks_for), change});

    auto& now = judgement_.switches;
    if (change.passthrough) now.passthrough = change.passthrough;
    if (change.intel_iommu) now.intel_iommu = change.intel_iommu;
    if (change.strict) now.strict = change.strict;
    now.iommu_off = now.iommu_off || change.iommu_off;
    now.amd_iommu_off = now.amd_iommu_off || change.amd_iommu_off;
  }

  void ignore(const Token& token, const Wish& wish, std::string reason) {
    judgement_.ignored.push_back({word_at(token, wish.asks_for), std::move(reason)});
  }

  /// Quotes make what stands in them part of another word; where one has no end, that's the rest of
  /// the line.
  void note_words_in_quotes(const Token& token) {
    const auto ends_piece = [](char byte) { return byte == '"' || is_separator(byte); };
    bool first = true;
    for (std::size_t at = 0; at < token.text.size();) {
      auto end = at;
      while (end < token.text.size() && !ends_piece(token.text[end]))
        ++end;
      if (end > at && !first) note_quoted_piece(token, at, token.text.substr(at, end - at));
      first = first && end == at;
      at = end + 1;
    }
  }

  void note_quoted_piece(const Token& token, std::size_t at, std::string_view text) {
    auto piece = tokenise(text).front();
    piece.offset = token.offset + at;
    // A name without a value says too little inside somebody else's text.
    if (const auto wish = wish_of(piece); wish && piece.value) {
      ignore(
          piece, *wish,
          token.open_quote ? "swallowed by a quote that has no end" : "in the quotes of another");
    }
  }

  void decide() {
    const auto& now = judgement_.switches;
    for (const auto& heeded : heeded_) {
      if (!off_by_ && is_final_off(heeded.change)) off_by_ = heeded.word;
      if (heeded.change.passthrough) domain_by_ = heeded.word;
    }
    if (off_by_) off_by_->asks_for = Mode::off;
    judgement_.decided_by = off_by_ ? off_by_ : domain_by_;
    if (off_by_)
      judgement_.mode = Mode::off;
    else if (now.passthrough)
      judgement_.mode = domain(*now.passthrough);
  }

  /// Whether the change turns translation off on this machine, and no later word on again.
  [[nodiscard]] bool is_final_off(const Switches& change) const {
    if (change.iommu_off) return true;
    if (change.amd_iommu_off) return vendor_ == Vendor::amd;
    return change.intel_iommu == false && judgement_.switches.intel_iommu == false &&
           vendor_ == Vendor::intel;
  }

  void note_if_overruled(const Heeded& heeded) {
    const auto reason = why_overruled(heeded);
    if (reason) judgement_.ignored.push_back({heeded.word, *reason});
  }

  [[nodiscard]] std::optional<std::string> why_overruled(const Heeded& heeded) const {
    const auto& change = heeded.change;
    const auto& now = judgement_.switches;
    if (change.intel_iommu && change.intel_iommu != now.intel_iommu) {
      return "overridden by " + quoted(last_intel_word());
    }
    if (change.intel_iommu && vendor_ == Vendor::amd) return "heeded only by an Intel IOMMU";
    if (change.amd_iommu_off && vendor_ == Vendor::intel) return "heeded only by an AMD IOMMU";
    if (vendor_ == Vendor::unknown && change.intel_iommu == false) {
      return "heeded only by an Intel IOMMU, and whose it is isn't known";
    }
    if (vendor_ == Vendor::unknown && change.amd_iommu_off) {
      return "heeded only by an AMD IOMMU, and whose it is isn't known";
    }
    if (change.passthrough && off_by_ && !is_final_off(change)) {
      return fmt::format("{} turns translation off", quoted(*off_by_));
    }
    if (change.passthrough && !off_by_ && change.passthrough != now.passthrough) {
      return "overridden by " + quoted(*domain_by_);
    }
    return std::nullopt;
  }

  [[nodiscard]] const Word& last_intel_word() const {
    const auto is_intel = [](const Heeded& heeded) {
      return heeded.change.intel_iommu.has_value();
    };
    return std::ranges::find_if(heeded_.rbegin(), heeded_.rend(), is_intel)->word;
  }

  std::string_view line_;
  Arch arch_;
  KernelVersion version_;
  Vendor vendor_;
  std::vector<Heeded> heeded_;
  std::optional<Word> off_by_;
  std::optional<Word> domain_by_;
  Judgement judgement_;
};

}  // namespace

std::string_view name_of(Mode mode) {
  switch (mode) {
    case Mode::passthrough:
      return "passthrough";
    case Mode::translated:
      return "translated";
    case Mode::off:
      return "off";
    case Mode::kernel_default:
      break;
  }
  return "kernel-default";
}

bool is_untranslated(Mode mode) {
  return mode == Mode::passthrough || mode == Mode::off;
}

Judgement judge(std::string_view command_line, Arch arch, std::optional<KernelVersion> version,
                Vendor vendor) {
  return Replay(command_line, arch, version.value_or(current_kernel), vendor).run();
}

std::optional<Word> contradicts_passthrough(const Judgement& judgement) {
  if (judgement.mode != Mode::translated) return std::nullopt;
  return judgement.decided_by;
}

std::string_view passthrough_word(Arch arch) {
  return arch == Arch::x86_64 ? "iommu=pt" : "iommu.passthrough=1";
}

}  // namespace peerpath::cmdline
