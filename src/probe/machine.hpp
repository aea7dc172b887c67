// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "probe/kernel.hpp"
#include "sys/system.hpp"

#include <string>

namespace peerpath::probe {

/// What kind of machine this is, as far as that decides what passthrough means here.
struct Machine {
  /// "none" on bare metal, or systemd-detect-virt(1)'s name: kvm, vmware, xen, …
  Result<std::string> hypervisor;
  Result<bool> xen_dom0;
  Result<bool> memory_encryption;  ///< AMD SME, SEV or Intel TDX is in use
  Result<bool> snp_host;           ///< hosts SEV-SNP guests
  Result<std::string> cpu;         ///< vendor and name: "AuthenticAMD AMD EPYC 9654 …"
  Result<std::string> product;     ///< of the firmware's system name; empty where it has none
  Result<bool> kexec_loaded;     ///< an image is loaded that kexec would boot next; no crash image
  Result<bool> booted_by_kexec;  ///< x86 only: nothing tells on others
};

/// From files alone, so that a recorded machine reads as it did. `kernel` is the one it runs.
/// Errors: those of reading; not_found where no file tells; unsupported where no file can.
[[nodiscard]] Machine read_machine(const System& system, const Kernel& kernel);

}  // namespace peerpath::probe
