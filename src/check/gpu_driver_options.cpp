// SPDX-License-Identifier: GPL-2.0-or-later
// Settings of the NVIDIA driver that overrule its own judgement of peer access.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"
#include "check/gpu_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "gpu.driver-options",
    .title = "Driver options that overrule peer access",
    .message_id = "1d9073493ab34e40a3be4dbd0f8b5912",
    .meaning =
        "Reads the parameters that the NVIDIA kernel module was loaded with, "
        "/proc/driver/nvidia/params, with the keys in RegistryDwords and RegistryDwordsPerDevice. "
        "Some of them overrule what the driver knows of the machine: with ForceP2P it says OK for "
        "peer access on platforms where copies then hang or lose data, or forbids it where it "
        "works. It doesn't apply where the module isn't loaded.",
    .causes =
        "ForceP2P, RMForceP2PType, RMPcieP2PType, P2PMailboxClientAllocated or "
        "PeerMappingOverride is set, or DmaRemapPeerMmio is 0. PeerMappingOverride concerns "
        "network cards, and NVSHMEM's IBGDA needs it. Unknown: the parameters can't be read.",
    .remedy =
        "Take the option out of the 'options nvidia' lines in /etc/modprobe.d, and 'nvidia.' words "
        "off the kernel command line; rebuild the initramfs and reboot. Keep one only where a "
        "vendor asks for it, and then test with a program that compares the data.",
    .since = "0.1.0",
};

constexpr const char* source = "/proc/driver/nvidia/params";

struct Option {
  std::string_view name;
  std::string_view harmless;  ///< the value that overrules nothing; empty: every value does
  std::string_view effect;
};

/// Facts: open-gpu-kernel-modules, src/nvidia/interface/nvrm_registry.h (the first five) and
/// kernel-open/nvidia/nv-reg.h (the last, which RegistryDwords may also name). That header's
/// GrdmaPciTopoCheckOverride isn't here: it's about network cards, and GB200 hosts need it.
constexpr std::array<Option, 6> options{{
    {"ForceP2P", "", "overrules what the driver knows of the chipset's peer access"},
    {"RMForceP2PType", "0", "forces one kind of peer access"},
    {"RMPcieP2PType", "0", "forces another kind of peer access over PCIe than the default"},
    {"P2PMailboxClientAllocated", "0", "changes who allots the peer mailbox; for tests only"},
    {"PeerMappingOverride", "0", "permits peer mappings of other vendors' devices"},
    {"DmaRemapPeerMmio", "1", "gives GPUs addresses of peers that no IOMMU mapping was made for"},
}};

struct Setting {
  std::string name;
  std::string value;
  std::string where;  ///< the parameter it stands in; empty where it is one
};

/// As strtoul(3) with base 0 reads it, which is what the driver does.
std::optional<std::uint64_t> number_of(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_number(text.substr(2), 16);
  return text.size() > 1 && text.starts_with('0') ? parse_number(text, 8) : parse_number(text);
}

std::string without_spaces(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(),
                            [](char c) { return c == ' ' || c == '\t' || c == '\n'; }),
             text.end());
  return text;
}

/// "KEY=VALUE;KEY=VALUE". Fact: kernel-open/nvidia/os-registry.c, os_registry_init and
/// nv_parse_per_device_option_string take the spaces out first.
std::vector<Setting> settings_in(const std::string& parameter, const std::string& text) {
  std::vector<Setting> settings;
  const auto packed = without_spaces(text);
  for (const auto part : split(packed, ';')) {
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    settings.push_back(
        {std::string(part.substr(0, equals)), std::string(part.substr(equals + 1)), parameter});
  }
  return settings;
}

const Option* overrule(const Setting& setting) {
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& option) {
    return option.name == setting.name;
  });
  if (found == options.end()) return nullptr;
  const auto value = number_of(setting.value);
  const bool harmless = !found->harmless.empty() && value && value == number_of(found->harmless);
  return harmless ? nullptr : &*found;
}

std::vector<Setting> all_settings(const std::map<std::string, std::string>& parameters) {
  std::vector<Setting> settings;
  for (const auto& [name, value] : parameters) {
    if (name == "RegistryDwords" || name == "RegistryDwordsPerDevice") {
      for (auto& setting : settings_in(name, value))
        settings.push_back(std::move(setting));
    } else {
      settings.push_back({name, value, ""});
    }
  }
  return settings;
}

Finding unread(const std::string& reason) {
  return {.id = std::string(record.id),
          .status = Status::unknown,
          .evidence = {{source, reason, "the module's parameters"}},
          .cause = "the driver's options can't be told: " + reason,
          .remedy = "mend what can't be read, then run 'peerpath verify' again"};
}

Finding judge(const std::string& version, const std::map<std::string, std::string>& parameters) {
  const auto dwords = parameters.find("RegistryDwords");
  if (dwords == parameters.end()) return unread("it has no RegistryDwords");
  Finding finding{.id = std::string(record.id), .status = Status::ok};
  std::vector<std::string> effects;
  std::vector<std::string> names;
  for (const auto& setting : all_settings(parameters)) {
    const auto* option = overrule(setting);
    if (option == nullptr) continue;
    const auto place = setting.where.empty() ? "" : fmt::format(" in {}", setting.where);
    const auto text = printable(fmt::format("{}={}{}", setting.name, setting.value, place));
    finding.evidence.push_back({source, text, "no override of peer access"});
    effects.push_back(fmt::format("{} {}", option->name, option->effect));
    names.push_back(fmt::format("'{}'", option->name));
  }
  if (names.empty()) {
    finding.evidence.push_back(
        {source,
         printable(
             fmt::format("no override of peer access; RegistryDwords \"{}\"", dwords->second)),
         "no override of peer access"});
  } else {
    finding.status = Status::warn;
    finding.cause = join(effects, "; ");
    finding.remedy = fmt::format(
        "take {} out of the 'options nvidia' lines in /etc/modprobe.d, or off the kernel command "
        "line, rebuild the initramfs and reboot",
        join(names, ", "));
  }
  finding.evidence.push_back({"/proc/driver/nvidia/version", printable(version), ""});
  return finding;
}

std::vector<Finding> run(const Facts& facts) {
  if (!facts.devices) return {unlisted_devices(std::string(record.id), facts)};
  if (facts.devices->empty()) return {no_devices(std::string(record.id), facts)};
  const auto& module = facts.nvidia;
  if (!module.version) return {unread(module.version.error().text())};
  if (!*module.version) {
    return {{.id = std::string(record.id),
             .status = Status::not_applicable,
             .evidence = {{"/proc/driver/nvidia/version", "no such file", ""}},
             .cause = "the NVIDIA kernel module isn't loaded"}};
  }
  if (!module.parameters) return {unread(module.parameters.error().text())};
  return {judge(**module.version, *module.parameters)};
}

}  // namespace

const Check gpu_driver_options{record, run};

}  // namespace peerpath::check
