// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

TEST_CASE("cmdline.fwupd: no such word → ok") {
  const auto* words = GENERATE("iommu=pt", "iommu=pt,force", "iommu=noforce", "-- iommu=force", "");
  CHECK(run_one(cmdline_fwupd, host(words, {gpu("identity")})).status == Status::ok);
}

TEST_CASE("cmdline.fwupd: the word that fwupd adds → warn, and how to undo it") {
  const auto* words = GENERATE("iommu=force", "iommu=pt iommu=force", "\"iommu=force\"");
  const auto finding = run_one(cmdline_fwupd, host(words, {gpu("identity")}));
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.remedy, "fwupdmgr security-undo org.fwupd.hsi.Iommu"));
}

TEST_CASE("cmdline.fwupd: command line unread → unknown") {
  auto facts = host("", {gpu("identity")});
  facts.command_line = fail(Errc::denied, "'/proc/cmdline': permission denied");
  CHECK(run_one(cmdline_fwupd, facts).status == Status::unknown);
}

TEST_CASE("cmdline.fwupd: no device matches → not applicable") {
  CHECK(run_one(cmdline_fwupd, host("iommu=force", {})).status == Status::not_applicable);
}

}  // namespace peerpath::check
