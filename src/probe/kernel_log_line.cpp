// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/kernel_log_line.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace peerpath::probe {
namespace {

using Kind = LogFact::Kind;
using Source = DmaFault::Source;
constexpr auto npos = std::string_view::npos;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != npos;
}

/// Takes `prefix` and the blanks after it off the beginning, if it's there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return true;
}

/// What stands after `begin`, up to one of the bytes of `end`; empty where there's no such place.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const auto start = text.find(begin);
  if (start == npos) return {};
  text.remove_prefix(start + begin.size());
  return text.substr(0, text.find_first_of(end));
}

/// A field of an address, with 0x or without.
std::optional<std::uint64_t> parse_field(std::string_view text, std::uint64_t most) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto value = parse_number(text, 16);
  return value && *value <= most ? value : std::nullopt;
}

LogFact fault(Source source, std::optional<std::string> bdf = std::nullopt) {
  return {.kind = Kind::fault, .source = source, .bdf = std::move(bdf)};
}

/// `[DMA Read] Request device [3b:00.0] fault addr …`, `[DMA Write NO_PASID] …`, `[DMA Read PASID
/// 0x1] …`. Faults of interrupt remapping, `[INTR-REMAP]`, are no accesses to memory.
std::optional<LogFact> parse_intel(std::string_view text) {
  if (text.starts_with("[DMA ")) {
    return fault(Source::intel, parse_log_address(between(text, "equest device [", "]")));
  }
  if (text.starts_with("Unknown option")) return LogFact{.kind = Kind::option};
  if (contains(text, "force enabled due to platform opt in")) {
    return LogFact{.kind = Kind::platform_opt_in};
  }
  return std::nullopt;
}

/// `Event logged [IO_PAGE_FAULT device=0000:41:00.0 domain=…]`, or without the device, which then
/// stands before the line.
std::optional<LogFact> parse_amd(std::string_view text, const std::optional<std::string>& device) {
  if (text.starts_with("Event logged [")) {
    const auto named = between(text, " device=", " ]");
    return fault(Source::amd, named.empty() ? device : parse_log_address(named));
  }
  if (text.starts_with("Unknown option")) return LogFact{.kind = Kind::option};
  if (contains(text, "SNP cannot be supported")) return LogFact{.kind = Kind::snp_lost};
  return std::nullopt;
}

/// `event 0x10 received:`, `event: F_TRANSLATION client: 0000:01:00.0 sid: 0x100 …` (6.14+) and, of
/// SMMUv2, `Unhandled context fault: …`.
std::optional<LogFact> parse_smmu(std::string_view text) {
  if (text.starts_with("event 0x")) {
    return LogFact{.kind = Kind::smmu_event, .source = Source::smmu};
  }
  if (text.starts_with("event: ")) {
    const auto client = between(text, " client: ", " ");
    if (client.empty()) return std::nullopt;
    return LogFact{
        .kind = Kind::smmu_client, .source = Source::smmu, .bdf = parse_log_address(client)};
  }
  if (text.starts_with("Unhandled context fault")) return fault(Source::smmu);
  return std::nullopt;
}

/// `Xid (PCI:0000:01:00): 31, …`, and lines about mappings of peers that failed.
std::optional<LogFact> parse_nvidia(std::string_view text) {
  if (text.starts_with("Xid (")) {
    auto address = between(text, "(", ")");
    take(address, "PCI:");
    return fault(Source::xid, parse_log_address(address));
  }
  const bool mapping = contains(text, "IOMMU mapping failed") ||
                       (contains(text, "peer DMA address") && contains(text, "not aligned")) ||
                       contains(text, "Assertion failed: pIOVAS != NULL");
  return mapping ? std::optional(fault(Source::nvidia)) : std::nullopt;
}

std::optional<LogFact> parse_core(std::string_view text) {
  const auto of = [](Kind kind) { return std::optional(LogFact{.kind = kind}); };
  if (text.starts_with("Default domain type:")) return of(Kind::default_domain);
  if (text.starts_with("DMA domain TLB invalidation policy:")) return of(Kind::invalidation);
  if (contains(text, "Disabling default IOMMU Passthrough")) return of(Kind::memory_encryption);
  if (text.starts_with("Failed to allocate default IOMMU domain")) return of(Kind::domain);
  return std::nullopt;
}

/// Of one device, whose driver and address stand before it.
bool is_about_domain(std::string_view text) {
  return text.starts_with("Device cannot be in ") ||
         text.starts_with("Device is still bound to driver") ||
         text.starts_with("Device is not trusted, but driver is overriding");
}

/// `dmar_fault: 2474 callbacks suppressed`. Of the functions that print what we count, by the
/// beginnings of their names; others' lines are no loss here. "printk" stands for any.
std::optional<LogFact> parse_suppressed(std::string_view function, std::string_view text) {
  constexpr std::string_view ours[] = {"dmar_", "amd_iommu", "arm_smmu", "iommu_", "nv", "printk"};
  bool counts = false;
  for (const auto name : ours)
    counts = counts || function.starts_with(name);
  if (!counts) return std::nullopt;
  const auto blank = text.find(' ');
  const auto count = parse_number(text.substr(0, blank));
  if (!count || blank == npos) return std::nullopt;
  const auto what = text.substr(blank + 1);
  if (!what.starts_with("callbacks suppressed") && !what.starts_with("messages suppressed")) {
    return std::nullopt;
  }
  return LogFact{.kind = Kind::suppressed, .count = *count};
}

/// Lines that don't begin with a name and a colon of their own.
std::optional<LogFact> parse_unnamed(std::string_view text) {
  if (text.starts_with("Malformed early option") ||
      text.starts_with("Unknown kernel command line parameters")) {
    return LogFact{.kind = Kind::option};
  }
  // arch/x86/mm/mem_encrypt.c now, of Linux 5.10, and before.
  if (text.starts_with("Memory Encryption Features active:") ||
      text.starts_with("AMD Memory Encryption Features active:") ||
      text.starts_with("AMD Secure Memory Encryption (SME) active") ||
      text.starts_with("AMD Secure Encrypted Virtualization (SEV) active")) {
    return LogFact{.kind = Kind::encryption_active};
  }
  return std::nullopt;
}

/// What a line tells whose beginning is a driver and a device.
std::optional<LogFact> parse_of_device(std::string_view driver, std::string_view name,
                                       std::string_view text) {
  if (driver.starts_with("arm-smmu")) return parse_smmu(text);
  const auto device = parse_log_address(name);
  // 5.3 and its neighbours say it twice.
  while (take(text, "AMD-Vi:")) {
  }
  if (text.starts_with("Event logged [")) return parse_amd(text, device);
  if (is_about_domain(text)) return LogFact{.kind = Kind::domain};
  return std::nullopt;
}

}  // namespace

std::optional<std::string> parse_log_address(std::string_view text) {
  const auto dot = text.find('.');
  const auto function =
      dot == npos ? std::optional<std::uint64_t>(0) : parse_field(text.substr(dot + 1), 7);
  text = text.substr(0, dot);
  const auto last = text.rfind(':');
  if (!function || last == npos) return std::nullopt;
  const auto slot = parse_field(text.substr(last + 1), 0x1f);
  text = text.substr(0, last);
  const auto first = text.find(':');
  const auto domain = first == npos ? std::optional<std::uint64_t>(0)
                                    : parse_field(text.substr(0, first), 0xffffffff);
  const auto bus = parse_field(first == npos ? text : text.substr(first + 1), 0xff);
  if (!slot || !domain || !bus) return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain, *bus, *slot, *function);
}

std::optional<LogFact> parse_log_line(std::string_view text) {
  // Nearly every line of interest has its teller's name before the first colon, and nothing is
  // looked for in the others' text: a log has hundreds of thousands.
  if (text.starts_with('M') || text.starts_with("AMD ") || text.starts_with("Unknown kernel")) {
    return parse_unnamed(text);
  }
  const auto colon = text.find(':');
  if (colon == npos) return std::nullopt;
  const auto name = text.substr(0, colon);
  auto rest = text.substr(colon + 1);
  take(rest, " ");
  if (name == "iommu") return parse_core(rest);
  if (name == "DMAR") return parse_intel(rest);
  if (name == "NVRM") return parse_nvidia(rest);
  if (name == "AMD-Vi") {
    while (take(rest, "AMD-Vi:")) {
    }
    return parse_amd(rest, std::nullopt);
  }
  if (const auto blank = name.find(' '); blank != npos) {
    // "nvidia 0000:07:00.0: ": the address has colons of its own.
    const auto end = text.find(": ", blank);
    if (end == npos) return std::nullopt;
    rest = text.substr(end + 1);
    take(rest, " ");
    return parse_of_device(name.substr(0, blank), text.substr(blank + 1, end - blank - 1), rest);
  }
  if (rest.ends_with("suppressed") || rest.ends_with("suppressed.")) {
    return parse_suppressed(name, rest);
  }
  return std::nullopt;
}

std::optional<LogRecord> parse_kmsg_record(std::string_view line) {
  const auto semicolon = line.find(';');
  if (line.starts_with(' ') || semicolon == npos) return std::nullopt;
  std::uint64_t numbers[3] = {};
  const char* next = line.data();
  const char* const end = line.data() + semicolon;
  for (auto& number : numbers) {
    const auto [stop, error] = std::from_chars(next, end, number);
    if (error != std::errc{} || stop == end || *stop != ',') return std::nullopt;
    next = stop + 1;
  }
  const auto [priority, sequence, microseconds] = numbers;
  // The facility is all but the lowest three bits; the kernel's is 0, and no program may use it.
  return LogRecord{.sequence = sequence,
                   .time = static_cast<double>(microseconds) / 1e6,
                   .by_kernel = priority < 8,
                   .text = line.substr(semicolon + 1)};
}

std::optional<LogRecord> parse_journal_record(std::string_view line) {
  if (!take(line, "[")) return std::nullopt;
  double time = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), time);
  line.remove_prefix(static_cast<std::size_t>(stop - line.data()));
  if (error != std::errc{} || !take(line, "]")) return std::nullopt;
  const auto host = line.find(' ');
  if (host == npos) return std::nullopt;
  line.remove_prefix(host + 1);
  const auto sender = line.substr(0, line.find(':'));
  line.remove_prefix(sender.size());
  take(line, ":");
  return LogRecord{
      .sequence = std::nullopt, .time = time, .by_kernel = sender == "kernel", .text = line};
}

std::string unescape_kmsg(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const auto byte = text.starts_with("\\x") && text.size() >= 4
                          ? parse_number(text.substr(2, 2), 16)
                          : std::nullopt;
    plain += byte ? static_cast<char>(*byte) : text.front();
    text.remove_prefix(byte ? 4 : 1);
  }
  return plain;
}

}  // namespace peerpath::probe
