// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/wish.hpp"

#include "base/text.hpp"
#include "cmdline/options.hpp"

#include <fmt/format.h>

namespace peerpath::cmdline {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (auto& byte : result) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  }
  return result;
}

/// Lower case and without any quotes.
std::string plain(std::string_view text) {
  auto result = lower(text);
  std::erase_if(result, [](char byte) { return byte == '"' || byte == '\''; });
  return result;
}

std::string plain_name(std::string_view text) {
  auto result = plain(text);
  for (auto& byte : result) {
    if (byte == '-' || byte == '.') byte = '_';
  }
  return result;
}

std::optional<Option> meant_option(std::string_view name) {
  const auto meant = plain_name(name);
  if (meant == "iommu") return Option::iommu;
  if (meant == "iommu_passthrough") return Option::passthrough;
  if (meant == "intel_iommu") return Option::intel_iommu;
  if (meant == "amd_iommu") return Option::amd_iommu;
  return std::nullopt;
}

/// What one item of a list looks as if it asked for.
std::optional<Mode> meant_mode(std::string_view item) {
  const auto meant = plain(item);
  if (meant.starts_with("pt") || meant == "passthrough") return Mode::passthrough;
  if (meant.starts_with("nopt") || meant == "nopassthrough") return Mode::translated;
  if (meant.starts_with("off")) return Mode::off;
  if (meant.starts_with("on")) return Mode::kernel_default;
  return std::nullopt;
}

/// A domain counts for more than `off`, and that more than `on`, except where the kernel itself
/// takes the last of the two: one word is looked at for one wish.
int weight(Option option, Mode mode) {
  if (mode == Mode::passthrough || mode == Mode::translated) return 2;
  return mode == Mode::off || option == Option::intel_iommu ? 1 : 0;
}

std::optional<Wish> list_wish(Option option, std::string_view value) {
  std::optional<Wish> wish;
  for (const auto item : split(value, ',')) {
    const auto mode = meant_mode(item);
    if (!mode || (wish && weight(option, *mode) < weight(option, wish->asks_for))) continue;
    wish = Wish{option, *mode, item};
  }
  return wish;
}

std::string why_no_name(std::string_view name, Option option) {
  if (name.find('\'') != std::string_view::npos) return "single quotes don't quote";
  if (name.find('"') != std::string_view::npos) return "quotes within a word are part of it";
  if (same_name(lower(name), name_of(option))) {
    return fmt::format("upper and lower case differ: the kernel's name is '{}'", name_of(option));
  }
  return fmt::format("not an option of the kernel, which has '{}'", name_of(option));
}

std::string why_no_bool(std::string_view value, KernelVersion version) {
  constexpr KernelVersion takes_all_letters{999, 0};
  if (value.empty()) return "needs a value";
  if (value[0] == '\'') return "single quotes don't quote";
  if (read_bool(value, takes_all_letters) && !read_bool(value, version)) {
    return fmt::format("Linux {}.{} isn't known to take '{}' for yes", version.major, version.minor,
                       value);
  }
  return fmt::format("'{}' is neither yes nor no to the kernel", value);
}

/// Whether one item of a list, standing alone, changes what peerpath looks at.
bool changes_something(Option option, std::string_view item) {
  if (option == Option::iommu) return read_iommu(item).passthrough || read_iommu(item).off;
  if (option == Option::intel_iommu) return read_intel_iommu(item).has_value();
  return amd_iommu_is_off(item, current_kernel);
}

std::string why_no_item(const Wish& wish) {
  if (wish.item.find('\'') != std::string_view::npos) return "single quotes don't quote";
  if (wish.item.find('"') != std::string_view::npos) return "quotes within a word are part of it";
  // It would count, so only what stands before it in the list can keep it from counting.
  if (changes_something(wish.option, wish.item)) return "'usedac' before it ends the list";
  if (changes_something(wish.option, lower(wish.item))) return "upper and lower case differ";
  return fmt::format("'{}' is not an option of '{}='", wish.item, name_of(wish.option));
}

}  // namespace

std::string_view name_of(Option option) {
  switch (option) {
    case Option::iommu:
      return "iommu";
    case Option::passthrough:
      return "iommu.passthrough";
    case Option::intel_iommu:
      return "intel_iommu";
    case Option::amd_iommu:
      break;
  }
  return "amd_iommu";
}

std::optional<Option> option_of(std::string_view name) {
  for (const auto option :
       {Option::iommu, Option::passthrough, Option::intel_iommu, Option::amd_iommu}) {
    if (same_name(name, name_of(option))) return option;
  }
  return std::nullopt;
}

std::optional<Wish> wish_of(const Token& token) {
  const auto option = meant_option(token.name);
  if (!option) return std::nullopt;
  if (*option == Option::passthrough) {
    const auto value = token.value.value_or("");
    const bool no = read_bool(plain(value), current_kernel) == false;
    return Wish{*option, no ? Mode::translated : Mode::passthrough, value};
  }
  if (!token.value) return Wish{*option, Mode::kernel_default, {}};
  return list_wish(*option, *token.value);
}

std::string why_unheeded(const Token& token, const Wish& wish, Arch arch, KernelVersion version) {
  if (option_of(token.name) != wish.option) return why_no_name(token.name, wish.option);
  if (wish.option != Option::passthrough && arch != Arch::x86_64) {
    return fmt::format("'{}=' has no meaning on {}", name_of(wish.option),
                       arch == Arch::arm64 ? "arm64" : "this architecture");
  }
  if (!token.value) return "needs a value";
  if (wish.option == Option::passthrough) return why_no_bool(*token.value, version);
  return why_no_item(wish);
}

}  // namespace peerpath::cmdline
