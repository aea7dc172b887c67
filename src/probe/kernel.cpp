// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/kernel.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <array>

namespace peerpath::probe {
namespace {

/// One word in a file of /proc.
Result<std::string> read_word(const System& system, const std::string& path) {
  const auto text = system.read(path, 4096);
  if (!text) return fail(text.error());
  const auto word = trim(*text);
  if (word.empty() || words(word).size() != 1 || printable(word) != word) {
    return fail(Errc::malformed, fmt::format("'{}': not one word", system.shown(path)));
  }
  return std::string(word);
}

Result<std::string> read_bootconfig(const System& system) {
  auto text = system.read("/proc/bootconfig");
  if (!text && text.error().code == Errc::not_found) return std::string();
  return text;
}

/// Debian, SUSE and their kin install the configuration in /boot, Fedora and its kin beside the
/// modules too.
Result<KernelConfig> read_config(const System& system, const std::string& release) {
  if (release.find('/') != std::string::npos) {
    return fail(Errc::malformed, fmt::format("'{}': not a kernel release", release));
  }
  const std::array paths{"/boot/config-" + release, "/lib/modules/" + release + "/config"};
  Result<std::string> text;
  for (const auto& path : paths) {
    text = system.read(path);
    if (!text && text.error().code == Errc::not_found) continue;
    if (!text) return fail(text.error());
    auto config = parse_kernel_config(*text);
    if (!config) {
      return fail(std::move(config).error().while_doing(fmt::format("'{}'", system.shown(path))));
    }
    config->source = path;
    return config;
  }
  return fail(Errc::not_found,
              fmt::format("'{}': no such file or directory", system.shown(paths.front())));
}

}  // namespace

Result<KernelConfig> parse_kernel_config(const std::string& text) {
  KernelConfig config;
  bool mentioned = false;
  const auto is = [&](std::string_view line, std::string_view option) {
    const bool set = line.starts_with(option) && line.substr(option.size()) == "=y";
    const bool unset = line.starts_with("# ") && line.substr(2).starts_with(option) &&
                       line.substr(2 + option.size()) == " is not set";
    mentioned = mentioned || set || unset;
    return set;
  };
  for (const auto raw : lines(text)) {
    const auto line = trim(raw);
    if (is(line, "CONFIG_IOMMU_DEFAULT_DMA_LAZY")) {
      config.default_domain = KernelConfig::Default::lazy;
    } else if (is(line, "CONFIG_IOMMU_DEFAULT_DMA_STRICT")) {
      config.default_domain = KernelConfig::Default::strict;
    } else if (is(line, "CONFIG_IOMMU_DEFAULT_PASSTHROUGH")) {
      config.default_domain = KernelConfig::Default::passthrough;
    } else if (is(line, "CONFIG_INTEL_IOMMU_DEFAULT_ON")) {
      config.intel_default_on = true;
    } else if (line == "CONFIG_AMD_MEM_ENCRYPT_ACTIVE_BY_DEFAULT=y") {
      config.memory_encryption_on = true;
    }
  }
  if (!mentioned) return fail(Errc::malformed, "not a kernel's build configuration with an IOMMU");
  return config;
}

Kernel read_kernel(const System& system) {
  Kernel kernel;
  if (auto release = system.kernel_release()) {
    kernel.release = std::move(*release);
  } else {
    kernel.release = read_word(system, "/proc/sys/kernel/osrelease");
  }
  if (auto machine = system.machine()) {
    kernel.machine = std::move(*machine);
  } else {
    kernel.machine = read_word(system, "/proc/sys/kernel/arch");
  }
  kernel.boot_id = read_word(system, "/proc/sys/kernel/random/boot_id");
  kernel.config = kernel.release ? read_config(system, *kernel.release)
                                 : Result<KernelConfig>(fail(kernel.release.error()));
  kernel.bootconfig = read_bootconfig(system);
  return kernel;
}

}  // namespace peerpath::probe
