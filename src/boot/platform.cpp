// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/platform.hpp"

#include "base/text.hpp"
#include "boot/grub_config.hpp"

#include <fmt/format.h>

namespace peerpath::boot {
namespace {

/// e_machine of an ELF file, little-endian as on every architecture that we know.
/// Fact: elf(5); EM_386 3, EM_X86_64 62, EM_AARCH64 183.
std::optional<cmdline::Arch> elf_arch(const std::string& file) {
  if (!file.starts_with("\x7f"
                        "ELF") ||
      file.size() < 20) {
    return std::nullopt;
  }
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(file[i]); };
  switch (byte(18) | byte(19) << 8) {
    case 3:
    case 62:
      return cmdline::Arch::x86_64;
    case 183:
      return cmdline::Arch::arm64;
    default:
      return cmdline::Arch::other;
  }
}

}  // namespace

Result<> check_linux_root(const System& system) {
  if (system.exists("/etc/os-release") || system.exists("/usr/lib/os-release")) return {};
  return fail(Errc::unsupported, fmt::format("'{}': not the root of a Linux system: it has neither "
                                             "'/etc/os-release' nor '/usr/lib/os-release'",
                                             system.root()));
}

Result<cmdline::Arch> root_arch(const System& system) {
  for (const std::string_view program : {"/bin/sh", "/sbin/init", "/usr/lib/systemd/systemd"}) {
    const auto file = system.read_range(program, 0, 64);
    if (!file) continue;
    if (const auto arch = elf_arch(*file)) return *arch;
  }
  if (const auto machine = system.machine()) return cmdline::arch_of(*machine);
  return fail(Errc::not_found,
              fmt::format("'{}': can't tell its architecture: '/bin/sh', '/sbin/init' and "
                          "'/usr/lib/systemd/systemd' are missing or no programs",
                          system.root()));
}

std::vector<cmdline::Arch> arches_of_words(const System& system) {
  if (const auto arch = root_arch(system)) return {*arch};
  return {cmdline::Arch::x86_64, cmdline::Arch::arm64};
}

Result<std::optional<std::string>> refusal(const System& system) {
  for (const auto& config : find_grub_configs(system)) {
    const auto xen = boots_xen(system, config);
    if (!xen) return fail(xen.error());
    if (*xen) {
      return std::optional<std::string>(
          "GRUB boots Xen: the IOMMU is Xen's, and a word on dom0's command line has no effect");
    }
  }
  if (system.is_booted()) {
    const auto snp = system.read("/sys/module/kvm_amd/parameters/sev_snp");
    if (snp && (trim(*snp) == "Y" || trim(*snp) == "1")) {
      return std::optional<std::string>(
          "this is a SEV-SNP host ('/sys/module/kvm_amd/parameters/sev_snp' is Y): with "
          "passthrough it would lose SNP");
    }
  }
  return std::optional<std::string>{};
}

}  // namespace peerpath::boot
