// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/next_boot.hpp"
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;
using cmdline::Mode;

namespace {

Finding with(const std::string& words, Mode configured) {
  auto facts = host(words, {gpu("identity")});
  facts.configured->mode = configured;
  return run_one(boot_pending_reboot, facts);
}

Facts unconfigured(Errc code) {
  auto facts = host("iommu=pt", {gpu("identity")});
  facts.configured = fail(code, "'/boot/grub/grub.cfg': said so");
  return facts;
}

}  // namespace

TEST_CASE("boot.pending-reboot: both untranslated → ok, with both sources") {
  const auto finding = with("iommu=pt", Mode::passthrough);
  CHECK(finding.status == Status::ok);
  REQUIRE(finding.evidence.size() == 2);
  CHECK(finding.evidence[0].observed == "'iommu=pt': passthrough");
  CHECK(finding.evidence[1].source == "/boot/grub/grub.cfg:120");
  CHECK(with("iommu=pt", Mode::off).status == Status::ok);
}

TEST_CASE("boot.pending-reboot: both translated → ok: a reboot changes nothing") {
  CHECK(with("iommu=nopt", Mode::kernel_default).status == Status::ok);
  CHECK(with("quiet", Mode::translated).status == Status::ok);
}

TEST_CASE("boot.pending-reboot: a vendor's `off` on both sides → ok") {
  // The mode that a boot configuration with this word is judged to have.
  const auto configured = cmdline::judge("intel_iommu=off", cmdline::Arch::x86_64).mode;
  CHECK(with("intel_iommu=off", configured).status == Status::ok);
}

TEST_CASE("boot.pending-reboot: configured but not booted → warn to reboot") {
  const auto finding = with("quiet", Mode::passthrough);
  CHECK(finding.status == Status::warn);
  CHECK(finding.remedy == "reboot");
  CHECK(finding.cause.rfind("armed, not booted: ", 0) == 0);
}

TEST_CASE("compare_boots: armed is configured but not booted, and nothing else, with no device") {
  const auto armed = [](const std::string& words, Mode configured) {
    auto facts = host(words, {});
    facts.configured->mode = configured;
    const auto boots = compare_boots(facts);
    REQUIRE(boots);
    return boots->armed();
  };
  CHECK(armed("quiet", Mode::passthrough));
  CHECK(armed("iommu=nopt", Mode::off));
  CHECK_FALSE(armed("iommu=pt", Mode::passthrough));
  CHECK_FALSE(armed("iommu=pt", Mode::translated));
  CHECK_FALSE(armed("quiet", Mode::kernel_default));
  CHECK_FALSE(compare_boots(unconfigured(Errc::not_found)));
  auto unread = host("quiet", {});
  unread.command_line = fail(Errc::denied, "/proc/cmdline");
  CHECK_FALSE(compare_boots(unread));
}

TEST_CASE("boot.pending-reboot: booted but not configured → warn that the next boot loses it") {
  const auto finding = with("iommu=pt", Mode::kernel_default);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.cause, "the next boot loses it"));
  CHECK(finding.remedy == "run 'peerpath ensure'");
  CHECK(with("iommu=pt", Mode::translated).status == Status::warn);
}

TEST_CASE("boot.pending-reboot: the kernel's default is passthrough → it counts on both sides") {
  auto facts = host("iommu=pt", {gpu("identity")});
  facts.kernel.config->default_domain = probe::KernelConfig::Default::passthrough;
  facts.configured->mode = Mode::kernel_default;
  CHECK(run_one(boot_pending_reboot, facts).status == Status::ok);
  facts.configured->mode = Mode::translated;
  CHECK(run_one(boot_pending_reboot, facts).status == Status::warn);
  facts.command_line = "quiet";
  CHECK(run_one(boot_pending_reboot, facts).status == Status::warn);
}

TEST_CASE("boot.pending-reboot: no boot configuration, or an unsupported one → not applicable") {
  const auto code = GENERATE(Errc::not_found, Errc::unsupported);
  const auto finding = run_one(boot_pending_reboot, unconfigured(code));
  CHECK(finding.status == Status::not_applicable);
  CHECK(has_evidence(finding, "'/boot/grub/grub.cfg': said so"));
}

TEST_CASE("boot.pending-reboot: a boot configuration that can't be read → unknown") {
  const auto code = GENERATE(Errc::denied, Errc::malformed, Errc::too_large, Errc::internal);
  CHECK(run_one(boot_pending_reboot, unconfigured(code)).status == Status::unknown);
}

TEST_CASE("boot.pending-reboot: an image that kexec would boot next → warn") {
  auto facts = host("iommu=pt", {gpu("identity")});
  facts.machine.kexec_loaded = true;
  const auto finding = run_one(boot_pending_reboot, facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.remedy, "kexec -u"));
  facts.configured = fail(Errc::unsupported, "an unsupported boot loader");
  CHECK(run_one(boot_pending_reboot, facts).status == Status::warn);
}

TEST_CASE("boot.pending-reboot: an image of kexec's beside another warning → that one stays") {
  auto facts = host("quiet", {gpu("DMA-FQ")});
  facts.machine.kexec_loaded = true;
  const auto finding = run_one(boot_pending_reboot, facts);
  CHECK(finding.status == Status::warn);
  CHECK(finding.remedy == "reboot");
  CHECK(finding.evidence.back().source == "/sys/kernel/kexec_loaded");
}

TEST_CASE("boot.pending-reboot: whether an image is loaded can't be read → unknown") {
  auto facts = host("iommu=pt", {gpu("identity")});
  facts.machine.kexec_loaded = fail(Errc::denied, "'/sys/kernel/kexec_loaded': denied");
  CHECK(run_one(boot_pending_reboot, facts).status == Status::unknown);
}

TEST_CASE("boot.pending-reboot: command line unread → unknown") {
  auto facts = host("", {gpu("identity")});
  facts.command_line = fail(Errc::denied, "'/proc/cmdline': permission denied");
  CHECK(run_one(boot_pending_reboot, facts).status == Status::unknown);
}

TEST_CASE("boot.pending-reboot: no device matches → not applicable") {
  CHECK(run_one(boot_pending_reboot, host("quiet", {})).status == Status::not_applicable);
}

}  // namespace peerpath::check
