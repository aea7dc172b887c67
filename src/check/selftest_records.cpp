// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/selftest_records.hpp"

#include <array>

namespace peerpath::check {
namespace {

constexpr std::array records{
    Record{
        .id = "p2p.selftest",
        .title = "CUDA peer-to-peer self-test",
        .message_id = "4a051c9c57db49279ded89573ddfbca8",
        .meaning =
            "Moves data between each two GPUs, in both directions, with the copy engines and with "
            "loads and stores, and has the GPU that owns the memory compare it. It's good only "
            "where every pair passed every test; then data does arrive intact, whatever the other "
            "findings warn of. Without an NVIDIA driver, or with fewer than two GPUs, there is "
            "nothing to test and it doesn't apply.",
        .causes =
            "Each pair that didn't pass has an entry of its own, with one of the ids p2p.*. "
            "Unknown: a GPU was in use, the time ran out, the copy through the host failed, or the "
            "driver can't be asked: it doesn't match its kernel module, or the device files are "
            "missing.",
        .remedy =
            "Run 'peerpath status' and mend what it says of the pairs. Where the driver can't be "
            "asked, see to it that 'nvidia-smi' lists the GPUs. 'peerpath selftest' tests again.",
        .since = "0.1.0",
    },
    Record{
        .id = "p2p.corruption",
        .title = "Data between two GPUs arrives wrong",
        .message_id = "acfb89db0e434b3ab3b649c3d2fe5869",
        .meaning =
            "The GPU that owns the memory read something else than its peer wrote, or the peer "
            "read something else than the owner has. Programs that use peer access between these "
            "two GPUs get wrong results, often without any error.",
        .causes =
            "The signature tells. never-written, zeros and stale: writes get lost, as where an "
            "IOMMU translates. mirror: the writer reads its data back and the owner never gets it, "
            "as in virtual machines. lost-flag: data comes after the flag that announces it. "
            "other-pair and shifted: writes go to wrong addresses. few-bits: faulty hardware.",
        .remedy =
            "See what 'peerpath verify' says of iommu.group-type and pcie.acs-redirect and mend "
            "that. Until then keep programs from using peer access: NCCL_P2P_DISABLE=1 for NCCL.",
        .since = "0.1.0",
    },
    Record{
        .id = "p2p.host-died",
        .title = "The host went down during a test of two GPUs",
        .message_id = "0ee72d1d93d1473d82abe1675fd27c94",
        .meaning =
            "Before each test its name and the pair's are written to the disk. This note was "
            "still there at a later boot: the host was reset, crashed or lost its power during the "
            "test. The pair isn't tested again by itself.",
        .causes =
            "Peer access between these GPUs brings the host down, by a bus error or a crash in "
            "the kernel. Or somebody switched the host off at that moment.",
        .remedy =
            "Read the firmware's event log and the end of the journal of that boot. 'peerpath "
            "selftest --force' tests the pair again, and forgets about it where it survives.",
        .since = "0.1.0",
    },
    Record{
        .id = "p2p.hang",
        .title = "A test of two GPUs doesn't end",
        .message_id = "536844a0e6274b3596afe03a6fcf8362",
        .meaning =
            "A copy, a load or store, or the wait for a peer's flag didn't end within its limit. "
            "The test's process was killed. Where even that didn't end it, its GPUs are left alone "
            "until the next boot.",
        .causes =
            "Writes of flags get lost or are held back on the way, as by ACS redirect or an IOMMU; "
            "a GPU has fallen off the bus; the driver hangs.",
        .remedy =
            "See pcie.acs-redirect and iommu.group-type, and the kernel log for Xid lines. Reboot "
            "where processes can't be killed.",
        .since = "0.1.0",
    },
    Record{
        .id = "p2p.error",
        .title = "The CUDA driver fails in a test of two GPUs",
        .message_id = "2775664cb23246a1b51668c2e450736f",
        .meaning =
            "The driver says that these GPUs have peer access, but a call of it failed, or the "
            "test's process crashed.",
        .causes =
            "CUDA_ERROR_MAP_BUFFER_OBJECT_FAILED (205): the peer's memory can't be mapped, as with "
            "a small BAR. Memory errors of a GPU. A driver that was updated without a reboot.",
        .remedy =
            "Look the error up, and see the kernel log for 'NVRM:' lines and pcie.bar-size. Reboot "
            "and test again.",
        .since = "0.1.0",
    },
    Record{
        .id = "p2p.asymmetric",
        .title = "Peer access between two GPUs in one direction only",
        .message_id = "6907e2f5927e4b14beef128e70c17f64",
        .meaning =
            "The driver offers peer access from one of the two GPUs to the other, but not back. "
            "Nothing wrong was seen in the direction that it offers.",
        .causes = "The driver's own rules or options, or a firmware that sets the GPUs up unlike.",
        .remedy = "See gpu.peer-access and gpu.driver-options, update BIOS and driver, and don't "
                  "use peer "
                  "access between these GPUs.",
        .since = "0.1.0",
    },
    Record{
        .id = "p2p.unsupported",
        .title = "No peer access between two GPUs",
        .message_id = "360cc9d5adc44c338d9f1b0bc769a7d1",
        .meaning =
            "The driver offers no peer access between these two GPUs. Programs copy by way of the "
            "host's memory, which is slower but right.",
        .causes =
            "The model has none, the chipset isn't known to the driver, the way between the GPUs "
            "isn't one that it uses, or MIG or confidential computing is on: see gpu.peer-access.",
        .remedy = "Accept it, or mend what gpu.peer-access says.",
        .since = "0.1.0",
    },
    Record{
        .id = "p2p.degraded",
        .title = "Bandwidth between two GPUs isn't what it should be",
        .message_id = "081ef7e3e1974bee9e77a46ea54e06f4",
        .meaning =
            "Data arrives intact, but much slower than the links between the two GPUs can carry "
            "it, or faster than they can, which no real transfer does. The bandwidth is compared "
            "with that of the narrowest link and of a copy by way of the host.",
        .causes =
            "ACS redirect sends the data by way of the root complex; a link has fewer lanes or a "
            "lower speed than it could; the GPUs are on different sockets. Too fast: writes were "
            "dropped on the way.",
        .remedy = "See pcie.acs-redirect and pcie.link. Where it's too fast, distrust peer access "
                  "between "
                  "these GPUs.",
        .since = "0.1.0",
    },
    Record{
        .id = "p2p.inconclusive",
        .title = "A test of two GPUs says nothing",
        .message_id = "51102be9830f4db888033fd26841f607",
        .meaning =
            "It isn't known whether data between these two GPUs arrives intact, which isn't the "
            "same as good.",
        .causes =
            "Programs computed on a GPU and weren't to be disturbed; the time ran out; memory was "
            "short; or the copy through the host, without peer access, failed too, so that a GPU, "
            "the driver or the host's memory is at fault and not the way between the GPUs.",
        .remedy =
            "Run 'peerpath selftest' while nothing computes on the GPUs, with a larger budget. "
            "Where the copy through the host failed, test that GPU by its vendor's diagnostics.",
        .since = "0.1.0",
    },
};

}  // namespace

std::span<const Record> selftest_records() {
  return records;
}

}  // namespace peerpath::check
