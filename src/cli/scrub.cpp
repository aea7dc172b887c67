// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/scrub.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace peerpath::cli {
namespace {

using Alphabet = Scrubber::Alphabet;

/// What a rule found: after `keep` bytes that stay, `length` that are to be replaced.
struct Found {
  std::size_t keep = 0;
  std::size_t length = 0;
  Alphabet alphabet = Alphabet::word;

  [[nodiscard]] bool any() const { return keep + length > 0; }
};

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\0';
}

bool is_letter(char c) {
  // A byte of UTF-8 beyond ASCII is one, too.
  return is_alnum(c) || static_cast<unsigned char>(c) >= 0x80;
}

bool is_hex(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return result;
}

bool starts_with_no_case(std::string_view text, std::string_view small) {
  return lower(text.substr(0, small.size())) == small;
}

template <class Predicate>
std::size_t run_of(std::string_view text, Predicate predicate) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), predicate) -
                                  text.begin());
}

std::size_t run_of_any(std::string_view text, std::string_view others) {
  return run_of(text,
                [&](char c) { return is_alnum(c) || others.find(c) != std::string_view::npos; });
}

char at_or_nul(std::string_view text, std::size_t at) {
  return at < text.size() ? text[at] : '\0';
}

/// Groups of these lengths with dashes between them, then no further letter: the length of all, or
/// 0.
template <std::size_t count, class Predicate>
std::size_t groups(std::string_view text, const std::array<std::size_t, count>& lengths,
                   Predicate predicate) {
  std::size_t at = 0;
  for (const auto length : lengths) {
    if (at > 0 && at_or_nul(text, at++) != '-') return 0;
    if (run_of(text.substr(std::min(at, text.size()), length), predicate) != length) return 0;
    at += length;
  }
  return is_alnum(at_or_nul(text, at)) ? 0 : at;
}

// The rules. Each looks at a text from the beginning of a word on, and knows what's before it.

/// Names of UEFI variables and types of partitions, which are the same everywhere.
/// Fact: UEFI specification 3.3 and 32.4.1; systemd's Boot Loader Interface; the Discoverable
/// Partitions Specification.
bool is_well_known(std::string_view uuid) {
  constexpr std::array<std::string_view, 5> known{
      "8be4df61-93ca-11d2-aa0d-00e098032b8c", "d719b2cb-3d3a-4596-a3bc-dad00e67656f",
      "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "c12a7328-f81f-11d2-ba4b-00a0c93ec93b",
      "bc13c2ff-59e6-4262-a352-b275fd6f7172"};
  return std::ranges::count(known, lower(uuid)) > 0;
}

Found uuid(std::string_view, std::string_view text) {
  const auto length = groups<5>(text, {8, 4, 4, 4, 12}, is_hex);
  if (length != 0 && is_well_known(text.substr(0, length))) return {length, 0};
  return {0, length, Alphabet::hexadecimal};
}

/// Of LVM: letters of both cases, too.
Found lvm_id(std::string_view, std::string_view text) {
  return {0, groups<7>(text, {6, 4, 4, 4, 4, 4, 6}, is_alnum)};
}

Found machine_id(std::string_view, std::string_view text) {
  const auto length = run_of(text, is_alnum);
  if (length != 32 || run_of(text, is_hex) < 32) return {};
  return {0, length, Alphabet::hexadecimal};
}

/// Six pairs or more, as InfiniBand has. A PCI address has a group of four, and a dot.
Found mac(std::string_view, std::string_view text) {
  const char separator = at_or_nul(text, 2);
  if (separator != ':' && separator != '-') return {};
  std::size_t pairs = 0;
  std::size_t end = 0;
  for (std::size_t at = 0; run_of(text.substr(std::min(at, text.size()), 2), is_hex) == 2;
       at += 3) {
    ++pairs;
    end = at + 2;
    if (at_or_nul(text, end) != separator) break;
  }
  if (pairs < 6 || is_alnum(at_or_nul(text, end))) return {};
  return {0, end, Alphabet::hexadecimal};
}

/// A MAC address without separators: in the name of a network device, or as the value of `mac=`.
Found plain_mac(std::string_view, std::string_view text) {
  for (const std::string_view key : {"enx", "wlx", "wwx", "mac=", "hwaddr=", "macaddr="}) {
    if (starts_with_no_case(text, key) && groups<1>(text.substr(key.size()), {12}, is_hex) != 0) {
      return {key.size(), 12, Alphabet::hexadecimal};
    }
  }
  return {};
}

/// World wide names: of type 5 or 6, or called so.
Found world_wide_name(std::string_view before, std::string_view text) {
  const bool named = text.starts_with("eui.") || text.starts_with("naa.");
  const std::size_t keep = named ? 4 : 2;
  if (!named && !text.starts_with("0x")) return {};
  const auto digits = run_of(text.substr(keep), is_hex);
  if (is_alnum(at_or_nul(text, keep + digits)) || (digits != 16 && digits != 32)) return {};
  const bool type = text[keep] == (digits == 16 ? '5' : '6');
  if (!named && !type && !before.ends_with("wwn-")) return {};
  return {keep, digits, Alphabet::hexadecimal};
}

/// iqn.YYYY-MM.NAME and nqn.YYYY-MM.NAME.
Found storage_name(std::string_view, std::string_view text) {
  constexpr std::size_t keep = 12;
  if (!text.starts_with("iqn.") && !text.starts_with("nqn.")) return {};
  if (at_or_nul(text, 8) != '-' || at_or_nul(text, 11) != '.') return {};
  return {keep, run_of_any(text.substr(keep), ".:_-")};
}

bool is_of_version(std::string_view before) {
  const auto word = words(before.substr(before.size() - std::min<std::size_t>(before.size(), 24)));
  if (word.empty()) return false;
  const auto last = lower(word.back());
  return last.starts_with("version") || last.starts_with("bios") || last.starts_with("rev") ||
         last.starts_with("release") || last == "v";
}

/// Not part of a version. Networks' masks and this host's own address say nothing.
Found ipv4(std::string_view before, std::string_view text) {
  std::size_t at = 0;
  for (int octet = 0; octet < 4; ++octet) {
    if (octet > 0 && at_or_nul(text, at++) != '.') return {};
    const auto digits = run_of(text.substr(std::min(at, text.size())), is_digit);
    if (digits == 0 || digits > 3 || parse_number(text.substr(at, digits)).value_or(256) > 255) {
      return {};
    }
    at += digits;
  }
  constexpr std::string_view of_versions = ".-_+~";
  const char previous = before.empty() ? '\0' : before.back();
  const char next = at_or_nul(text, at);
  const bool in_name =
      of_versions.find(previous) != std::string_view::npos && !before.ends_with("ip-");
  const bool goes_on =
      is_alnum(next) || (of_versions.find(next) != std::string_view::npos && next != '-');
  if (in_name || goes_on || is_of_version(before)) return {};
  if (text.starts_with("127.") || text.starts_with("255.") || text.starts_with("0.0.0.0")) {
    return {at, 0};
  }
  return {0, at, Alphabet::address};
}

Found ipv6(std::string_view before, std::string_view text) {
  const auto length = run_of(text, [](char c) { return is_hex(c) || c == ':'; });
  const auto address = text.substr(0, length);
  const auto parts = split(address, ':');
  if (parts.size() < 3 || parts.size() > 8 || before.ends_with(':')) return {};
  const bool short_form = address.find("::") != std::string_view::npos;
  if (!short_form && parts.size() != 8) return {};
  const auto longest = std::ranges::max(parts, {}, &std::string_view::size).size();
  const auto filled = std::ranges::count_if(parts, [](auto part) { return !part.empty(); });
  if (longest > 4 || filled < 2 || is_alnum(at_or_nul(text, length))) return {};
  return {0, length, Alphabet::hexadecimal};
}

/// The domain has a dot and a letter: a PCI address behind an @ hasn't.
Found mail_address(std::string_view, std::string_view text) {
  const auto local = run_of_any(text, "._%+-");
  if (local == 0 || at_or_nul(text, local) != '@') return {};
  const auto domain = text.substr(local + 1, run_of_any(text.substr(local + 1), ".-"));
  const auto dot = domain.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == domain.size() || is_digit(domain[dot + 1]))
    return {};
  return {0, local + 1 + domain.size()};
}

/// NAME of `UUID=NAME`, with quotes around it or not. FAT's and NTFS's are no UUIDs.
Found volume_id(std::string_view, std::string_view text) {
  const std::size_t key = starts_with_no_case(text, "partuuid") ? 8 : 4;
  if (!starts_with_no_case(text, key == 8 ? "partuuid" : "uuid")) return {};
  if (at_or_nul(text, key) != '=') return {};
  const char quote = at_or_nul(text, key + 1);
  const std::size_t keep = key + (quote == '"' || quote == '\'' ? 2 : 1);
  const auto value = text.substr(std::min(keep, text.size()));
  const auto length = run_of_any(value, "-");
  const auto digits = run_of(value, [](char c) { return is_hex(c) || c == '-'; });
  return {keep, length, digits == length ? Alphabet::hexadecimal : Alphabet::word};
}

/// NAME of `LABEL=NAME` and of /dev/disk/by-label/NAME.
Found volume_label(std::string_view before, std::string_view text) {
  if (before.ends_with("/by-label/") || before.ends_with("/by-partlabel/")) {
    return {0, run_of_any(text, "._-+\\")};
  }
  for (const std::string_view key : {"label=", "partlabel="}) {
    if (!starts_with_no_case(text, key)) continue;
    const char quote = at_or_nul(text, key.size());
    const std::size_t keep = key.size() + (quote == '"' || quote == '\'' ? 1 : 0);
    return {keep, run_of_any(text.substr(keep), "._-+\\")};
  }
  return {};
}

/// Where the line, or the path, speaks of UUIDs.
Found short_volume_id(std::string_view, std::string_view text) {
  auto length = groups<2>(text, {4, 4}, is_hex);
  if (length == 0) length = groups<1>(text, {8}, is_hex);
  if (length == 0) length = groups<1>(text, {16}, is_hex);
  if (length == 0 && groups<2>(text, {8, 2}, is_hex) != 0) length = 11;
  return {0, length, Alphabet::hexadecimal};
}

/// A name in /dev/disk/by-id: model and serial number.
Found disk_id(std::string_view before, std::string_view text) {
  if (!before.ends_with("/by-id/")) return {};
  const auto name = text.substr(0, run_of_any(text, "._-:+@"));
  const auto part = name.rfind("-part");
  const auto whole = name.substr(0, part);
  const auto keep = std::min(whole.find('-'), whole.size() - 1) + 1;
  const auto id = whole.substr(keep);
  if (uuid("", id).any() || world_wide_name("wwn-", id).any()) return {keep, 0};
  return {keep, whole.size() - keep};
}

/// The line so far, and the word so far.
std::string_view line_before(std::string_view before) {
  return before.substr(before.rfind('\n') + 1);
}

std::string_view word_before(std::string_view before) {
  std::size_t from = before.size();
  while (from > 0 && !is_blank(before[from - 1]))
    --from;
  return before.substr(from);
}

std::size_t run_of_word(std::string_view text) {
  return run_of(text, [](char c) { return !is_blank(c); });
}

/// The value of an assignment that has `keep` bytes before it: in quotes, or up to a blank.
Found value_at(std::string_view text, std::size_t keep) {
  keep += run_of(text.substr(keep), [](char c) { return c == '\\'; });
  const char quote = at_or_nul(text, keep);
  if (quote == '"' || quote == '\'') {
    ++keep;
    const auto end = text.find_first_of(std::string{quote, '\n'}, keep);
    return {keep, std::min(end, text.size()) - keep};
  }
  return {keep, run_of_word(text.substr(keep))};
}

/// What GRUB's commands of that name get: the name of a user, then the password.
Found grub_password(std::string_view before, std::string_view text) {
  const auto so_far = words(line_before(before));
  const auto is_command = [](std::string_view word) {
    return word == "password" || word == "password_pbkdf2";
  };
  if (so_far.empty() || !is_command(so_far.front())) return {};
  if (so_far.size() == 1) return {0, run_of_word(text)};
  return {0, std::min(text.find('\n'), text.size())};
}

/// What a name tells that its value is to be kept secret.
bool is_secret(std::string_view name) {
  constexpr std::array<std::string_view, 9> secrets{"key",  "psk",  "pass",  "pwd",   "auth",
                                                    "user", "cred", "token", "secret"};
  // Judged, or nobody's secret.
  constexpr std::array<std::string_view, 4> others{"passthrough", "bypass", "nvreg_", "iommu"};
  const auto has = [small = lower(name)](std::string_view part) {
    return small.find(part) != std::string::npos;
  };
  return std::ranges::any_of(secrets, has) && std::ranges::none_of(others, has);
}

/// VALUE of `password=VALUE` and its like.
Found password(std::string_view, std::string_view text) {
  const auto key = run_of_any(text, "_-");
  if (at_or_nul(text, key) != '=' || !is_secret(text.substr(0, key))) return {};
  return value_at(text, key + 1);
}

/// `USER:PASSWORD@` of `scheme://USER:PASSWORD@HOST/` and `iscsi:USER:PASSWORD@HOST:…`.
Found user_of_address(std::string_view, std::string_view text) {
  std::size_t keep = run_of_any(text, "+.-");
  const bool url = text.substr(keep).starts_with("://");
  if (!url && !starts_with_no_case(text, "iscsi:")) return {};
  keep = url ? keep + 3 : 6;
  const auto rest = text.substr(keep);
  const auto part =
      rest.substr(0, run_of(rest, [&](char c) { return !is_blank(c) && !(url && c == '/'); }));
  const auto at = part.rfind('@');
  if (at == std::string_view::npos) return {};
  return {keep, at};
}

/// `name=NAME` and `pid=NUMBER` of a process, as the driver tells with an Xid.
Found process(std::string_view before, std::string_view text) {
  const std::size_t keep = text.starts_with("pid=") ? 4 : 5;
  if (keep == 5 && !text.starts_with("name=")) return {};
  if (line_before(before).find("Xid") == std::string_view::npos) return {};
  const auto rest = text.substr(keep);
  return {keep, std::min(rest.find_first_of(",\n"), rest.size())};
}

/// `Serial Number: VALUE`, `SerialNumber=VALUE` and the like; a console has no such number.
Found serial_number(std::string_view, std::string_view text) {
  if (!starts_with_no_case(text, "serial")) return {};
  std::size_t at = 6;
  for (const std::string_view more : {" ", "_", "-", "number", "no", " "}) {
    if (starts_with_no_case(text.substr(std::min(at, text.size())), more)) at += more.size();
  }
  at +=
      run_of(text.substr(std::min(at, text.size())), [](char c) { return c == ' ' || c == '\t'; });
  const char sign = at_or_nul(text, at);
  if (sign != ':' && sign != '=') {
    // Without a sign it's a long number, after a blank.
    const auto digits = run_of(text.substr(std::min(at, text.size())), is_digit);
    const bool apart = text[at - 1] == ' ' || text[at - 1] == '\t';
    if (!apart || digits < 7 || is_alnum(at_or_nul(text, at + digits))) return {};
    return {at, digits};
  }
  ++at;
  at += run_of(text.substr(at), [](char c) { return c == ' ' || c == '\t' || c == '"'; });
  const auto value = text.substr(at, run_of_any(text.substr(at), "-"));
  if (value.size() < 5 || value.starts_with("tty") || std::ranges::none_of(value, is_digit)) {
    return {};
  }
  return {at, value.size()};
}

/// Hosts that a name, or cloud-init's `ds=nocloud;h=HOST;i=ID`, tells: `hostname=HOST`.
Found named_host(std::string_view before, std::string_view text) {
  const auto key = run_of_any(text, "_-");
  if (at_or_nul(text, key) != '=') return {};
  const auto name = lower(text.substr(0, key));
  constexpr std::array<std::string_view, 4> names{"nbdroot", "dns", "nameserver", "ntp"};
  const bool cloud = (name == "h" || name == "i") &&
                     lower(word_before(before)).find("ds=nocloud") != std::string::npos;
  if (!cloud && !name.ends_with("hostname") && std::ranges::count(names, name) == 0) return {};
  const auto value = text.substr(key + 1);
  // Addresses have rules of their own.
  if (ipv4("", value).any() || ipv6("", value).any()) return {key + 1, 0};
  return {key + 1, run_of_any(value, "._-")};
}

/// Hosts: `scheme://HOST`, `//HOST/`, `USER@HOST` of an address, `nfs:HOST:`, `nfsroot=HOST:`.
/// Users: `/home/NAME`.
Found host_or_user(std::string_view before, std::string_view text) {
  const auto host = [&] { return run_of_any(text, ".-@:[]"); };
  if (before.ends_with("://")) return {0, host()};
  if (before.ends_with("/home/")) return {0, run_of_any(text, "._-")};
  const auto word = word_before(before);
  const bool share = word == "//" || word.ends_with("=//") || word.ends_with("\"//");
  const bool of_user = word.ends_with('@') && (word.find("://") != std::string_view::npos ||
                                               word.find("iscsi:") != std::string_view::npos);
  if ((share || of_user) && !ipv4("", text).any()) return {0, run_of_any(text, ".-")};
  const auto label = run_of_any(text, ".-");
  if (at_or_nul(text, label) != ':' || std::ranges::all_of(text.substr(0, label), is_digit)) {
    return {};
  }
  for (const std::string_view key : {"nfs:", "nfs4:", "iscsi:", "nfsroot="}) {
    if (before.ends_with(key) && !ipv4("", text).any()) return {0, label};
  }
  return {};
}

using Rule = Found (*)(std::string_view before, std::string_view text);

constexpr std::array<Rule, 20> rules{
    grub_password, user_of_address, password,     process, disk_id,   volume_label,    uuid,
    lvm_id,        machine_id,      plain_mac,    mac,     volume_id, world_wide_name, storage_name,
    named_host,    mail_address,    host_or_user, ipv4,    ipv6,      serial_number};

Found find(std::string_view text, std::size_t at, bool of_uuids) {
  const auto before = text.substr(0, at);
  const auto rest = text.substr(at);
  for (const auto rule : rules) {
    if (const auto found = rule(before, rest); found.any()) return found;
  }
  return of_uuids ? short_volume_id(before, rest) : Found{};
}

/// Says nothing about the machine, or may be a word that peerpath judges.
bool is_common(const std::string& word) {
  static const std::set<std::string, std::less<>> common{
      "almalinux", "amd", "arch", "arm64", "boot", "centos", "cpu", "crypt", "data", "debian",
      "default", "dhcp", "disk", "efi", "eth0", "example", "fedora", "force", "gpu", "home", "host",
      "intel", "iommu", "lazy", "linux", "local", "localdomain", "localhost", "luks", "none",
      "nopt", "nvidia", "off", "opensuse", "pci", "rescue", "rhel", "rocky", "root", "server",
      "strict", "suse", "swap", "system", "ubuntu", "unknown", "usr", "var", "x86_64", "com", "net",
      "org", "internal", "lan",
      // Words of sysfs, of the boot loaders' files and of what the checks look for.
      "acpi", "acs", "address", "adding", "admin", "arm", "aarch64", "audit", "auto", "bar", "base",
      "bios", "block", "blocked", "bound", "bridge", "bus", "class", "cmdline", "command", "config",
      "current", "dev", "device", "devices", "disabled", "dma", "dmar", "domain", "driver",
      "drivers", "enabled", "entries", "entry", "error", "etc", "fault", "firmware", "flags", "fq",
      "fwupd", "generic", "group", "groups", "grub", "grub2", "guest", "hypervisor", "identity",
      "initrd", "interrupt", "iommu_group", "iommu_groups", "irq", "kernel", "kvm", "lib", "link",
      "loader", "lockdown", "log", "mem", "memory", "menu", "menuentry", "mode", "model", "module",
      "modules", "name", "node", "numa", "nvrm", "nvswitch", "options", "parameters", "passthrough",
      "pcie", "pcieport", "physical", "platform", "port", "power", "proc", "process", "quiet",
      "read", "redirect", "remapping", "request", "reset", "resource", "run", "search", "set",
      "sev", "sme", "smmu", "smmuv3", "speed", "splash", "status", "sys", "tdx", "title",
      "translated", "type", "unrestricted", "user", "vendor", "version", "vfio", "virtual",
      "vmlinuz", "vt-d", "width", "write", "x86", "xen", "xid", "amd-vi", "amd64", "dma-fq",
      "hardware", "qemu", "bochs", "microsoft", "vmware", "intel_iommu", "amd_iommu",
      "genuineintel", "authenticamd", "cpuinfo", "processor", "vendor_id", "family"};
  // Addresses of PCI, and roots of its buses.
  return common.contains(word) || word.starts_with("pci0") || word.starts_with("0000:");
}

/// Files that hold nothing but what identifies the machine or a part of it.
bool is_id_file(std::string_view path) {
  const auto name = base_name(path);
  constexpr std::array<std::string_view, 9> names{
      "serial",        "wwid",           "wwn",          "vpd", "unique_id", "node_guid",
      "unique_number", "sys_image_guid", "serial_number"};
  return std::ranges::count(names, name) > 0 || name.ends_with("_serial") ||
         name.ends_with("_asset_tag");
}

bool is_config_space(std::string_view path) {
  return path.starts_with("/sys/") && base_name(path) == "config";
}

bool is_hostname(std::string_view path) {
  return path == "/proc/sys/kernel/hostname" || path == "/etc/hostname";
}

/// The kernel's names and values, in which no host's occurs. Links are relative in sysfs.
bool is_of_kernel(std::string_view path) {
  return path.starts_with("/sys/") || path.starts_with("/proc/") || !path.starts_with('/');
}

bool may_name_host(std::string_view path) {
  if (path.starts_with("/dev/")) {
    return path.starts_with("/dev/mapper/") || path.starts_with("/dev/disk/");
  }
  return !is_of_kernel(path);
}

bool is_of_grub(std::string_view path) {
  return base_name(path) == "grub.cfg" || path.starts_with("/etc/default/grub");
}

/// With comments made unreadable, apart from those that peerpath looks for.
std::string without_comments(std::string_view text) {
  constexpr std::array<std::string_view, 5> marks{"### BEGIN ", "### END ", "# BEGIN peerpath",
                                                  "# END peerpath", "# Written by peerpath"};
  std::string result(text);
  for (std::size_t at = 0; at < result.size();) {
    const auto end = std::min(result.find('\n', at), result.size());
    const auto line = std::string_view(result).substr(at, end - at);
    const bool mark =
        std::ranges::any_of(marks, [&](std::string_view start) { return line.starts_with(start); });
    if (trim(line).starts_with('#') && !mark) {
      std::replace_if(result.begin() + static_cast<std::ptrdiff_t>(at),
                      result.begin() + static_cast<std::ptrdiff_t>(end), is_letter, 'x');
    }
    at = end + 1;
  }
  return result;
}

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Zeroes the serial number of a PCI function, an extended capability that begins with its header.
/// Fact: PCI Express Base Specification 7.9.3; version 1 has 12 bytes.
std::string without_serial_number(std::string_view bytes, std::size_t offset) {
  constexpr std::uint32_t serial_number = 0x0003;
  constexpr std::size_t extended = 0x100;
  std::string result(bytes);
  const auto clear = [&](std::size_t at) {
    for (std::size_t i = at + 4; i < std::min(at + 12, result.size()); ++i)
      result[i] = '\0';
  };
  if (offset > 0) {
    // Only a part is known: what looks like one is one.
    for (std::size_t at = (4 - offset % 4) % 4; at + 4 <= result.size(); at += 4) {
      if ((word_at(result, at) & 0xfffffU) == (0x10000U | serial_number)) clear(at);
    }
    return result;
  }
  // More than there's room for would be a loop.
  std::size_t at = extended;
  for (int steps = 0; steps < 1000 && at >= extended && at + 4 <= result.size(); ++steps) {
    const auto header = word_at(result, at);
    if ((header & 0xffffU) == serial_number) clear(at);
    at = header >> 20U;
  }
  return result;
}

bool has_uuid(std::string_view text) {
  return lower(text).find("uuid") != std::string::npos;
}

}  // namespace

void Scrubber::learn(std::string_view value) {
  learn(value, learned_);
}

void Scrubber::learn(std::string_view value, std::set<std::string>& into) {
  const auto word = lower(trim(value));
  if (word.size() < 3 || is_common(word) || words(word).size() != 1) return;
  if (!is_alnum(word.front()) || !is_alnum(word.back())) return;
  // A short number is most likely something else elsewhere.
  if (word.size() < 5 && std::ranges::all_of(word, is_digit)) return;
  into.insert(word);
}

void Scrubber::learn_host(std::string_view name) {
  const auto whole = trim(name);
  learn(whole, hosts_);
  const auto dot = whole.find('.');
  if (dot == std::string_view::npos) return;
  learn(whole.substr(0, dot), hosts_);
  learn(whole.substr(dot + 1), hosts_);
}

void Scrubber::learn_from(std::string_view path, std::string_view content) {
  if (is_id_file(path)) {
    const auto value = trim(content);
    if (std::ranges::any_of(value, is_digit) && value.size() >= 5) learn(value);
    return;
  }
  if (is_of_grub(path)) learn_grub_users(content);
  for (const auto word : words(content)) {
    if (word.starts_with("rd.luks.name=")) learn(word.substr(word.rfind('=') + 1));
    if (word.starts_with("systemd.hostname=") || word.starts_with("hostname=")) {
      learn_host(word.substr(word.find('=') + 1));
    }
    // Documentation/admin-guide/nfs/nfsroot.rst: client:server:gateway:mask:hostname:device:…
    if (const auto fields = split(word, ':'); word.starts_with("ip=") && fields.size() > 5) {
      learn_host(fields[4]);
    }
  }
}

void Scrubber::learn_grub_users(std::string_view content) {
  for (const auto line : split(content, '\n')) {
    const auto parts = words(line);
    if (parts.size() > 1 && (parts[0] == "password" || parts[0] == "password_pbkdf2")) {
      learn(parts[1]);
    }
    if (const auto at = line.find("superusers="); at != std::string_view::npos) {
      std::string names(line.substr(at + std::string_view("superusers=").size()));
      std::replace_if(
          names.begin(), names.end(), [](char c) { return !is_letter(c); }, ' ');
      for (const auto name : words(names))
        learn(name);
    }
  }
}

std::size_t Scrubber::learned_at(std::string_view text, std::size_t at, bool hosts) const {
  std::size_t longest = 0;
  const auto look = [&](const std::set<std::string>& values) {
    for (const auto& value : values) {
      if (value.size() > longest && !is_alnum(at_or_nul(text, at + value.size())) &&
          starts_with_no_case(text.substr(at), value)) {
        longest = value.size();
      }
    }
  };
  look(learned_);
  if (hosts) look(hosts_);
  return longest;
}

std::string Scrubber::drawn(const std::string& value, Alphabet alphabet) {
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random_);
  };
  std::string result;
  if (alphabet == Alphabet::address) {
    for (const auto octet : split(value, '.')) {
      const int number = octet.size() == 1   ? between(1, 9)
                         : octet.size() == 2 ? between(10, 99)
                                             : between(100, 199);
      result += (result.empty() ? "" : ".") + std::to_string(number);
    }
    return result;
  }
  for (const char c : value) {
    const bool hexadecimal = alphabet == Alphabet::hexadecimal;
    if (hexadecimal && is_hex(c)) {
      result += "0123456789abcdef"[between(0, 15)];
    } else if (is_digit(c)) {
      result += static_cast<char>(between('0', '9'));
    } else {
      result += is_letter(c) ? static_cast<char>(between('a', 'z')) : c;
    }
  }
  return result;
}

std::string Scrubber::replacement(std::string_view value, Alphabet alphabet) {
  auto key = lower(value);
  if (alphabet == Alphabet::hexadecimal) {
    // A MAC address is the same with other separators, and so is a UUID without.
    std::erase_if(key, [](char c) { return !is_hex(c); });
  }
  auto& other = replacements_[key];
  if (other.empty()) {
    // Two values must not become one. Of one or two letters there may be no more than there are.
    for (int tries = 0; tries < 100; ++tries) {
      other = drawn(key, alphabet);
      if (other != key && drawn_.insert(other).second) break;
    }
  }
  std::string result;
  auto next = other.begin();
  for (const char c : value) {
    if (alphabet == Alphabet::hexadecimal && !is_hex(c)) {
      result += c;
      continue;
    }
    const char letter = *next++;
    const bool capital = std::isupper(static_cast<unsigned char>(c)) != 0;
    result +=
        capital ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
  }
  return result;
}

std::string Scrubber::text(std::string_view text, bool hosts) {
  std::string result;
  bool of_uuids = false;
  bool new_line = true;
  for (std::size_t at = 0; at < text.size();) {
    if (new_line)
      of_uuids = has_uuid(text.substr(at, std::min(text.find('\n', at), text.size()) - at));
    new_line = text[at] == '\n';
    const bool begins = is_alnum(text[at]) && (at == 0 || !is_alnum(text[at - 1]));
    auto found = begins ? find(text, at, of_uuids) : Found{};
    if (const auto learned = begins && !found.any() ? learned_at(text, at, hosts) : 0;
        learned > 0) {
      found = {0, learned, Alphabet::word};
    }
    if (!found.any()) {
      result += text[at++];
      continue;
    }
    result += text.substr(at, found.keep);
    result += replacement(text.substr(at + found.keep, found.length), found.alphabet);
    at += found.keep + found.length;
  }
  return result;
}

std::string Scrubber::path(std::string_view path) {
  std::string result;
  const bool hosts = may_name_host(path);
  while (result.size() < path.size()) {
    const auto end = std::min(path.find('/', result.size() + 1), path.size());
    // Everything keeps its length.
    result += text(path.substr(0, end), hosts).substr(result.size());
  }
  return result;
}

std::string Scrubber::content(std::string_view path, std::size_t offset, std::string_view bytes) {
  if (is_config_space(path)) return without_serial_number(bytes, offset);
  if (is_id_file(path) || is_hostname(path)) {
    auto known = text(bytes);
    return known == bytes ? replacement(bytes, Alphabet::word) : known;
  }
  if (is_of_grub(path)) return text(without_comments(bytes));
  const bool hosts = !is_of_kernel(path) || path == "/proc/cmdline";
  // The path says of what the ids are.
  if (!has_uuid(path)) return text(bytes, hosts);
  std::string result;
  for (const auto line : split(bytes, '\n')) {
    const auto with_word = text("uuid " + std::string(line), hosts);
    result += with_word.substr(5) + "\n";
  }
  result.pop_back();
  return result;
}

}  // namespace peerpath::cli
