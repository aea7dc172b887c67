// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/uki_image.hpp"

#include "base/text.hpp"
#include "boot/bls_entry.hpp"
#include "cmdline/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>

namespace peerpath::boot {
namespace {

constexpr std::string_view image_directory = "/EFI/Linux";
constexpr std::string_view secure_boot_variable =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

using Sections = std::span<const PeSection>;

/// The first of that name. Fact: systemd's src/boot/pe.c; in older versions the last one won.
const PeSection* find_section(Sections sections, std::string_view name) {
  const auto found = std::ranges::find(sections, name, &PeSection::name);
  return found == sections.end() ? nullptr : &*found;
}

bool is_doubled(Sections sections, std::string_view name) {
  return std::ranges::count(sections, name, &PeSection::name) > 1;
}

/// The text of a section, if there's such a section.
Result<std::optional<std::string>> text_of(const PeSource& source, const PeSection* section) {
  if (section == nullptr) return std::nullopt;
  auto text = pe_text(source, *section);
  if (!text) return fail(text.error());
  return std::move(*text);
}

/// A command line without the blanks around it: systemd-stub takes them away.
Result<std::optional<std::string>> command_line_of(const PeSource& source,
                                                   const PeSection* section) {
  auto text = text_of(source, section);
  if (text && *text) **text = std::string(trim(**text));
  return text;
}

/// `NAME=value` in a text of such lines, as in os-release(5).
std::string setting(std::string_view text, std::string_view name) {
  for (const auto line : lines(text)) {
    if (!line.starts_with(name) || line.substr(name.size(), 1) != "=") continue;
    auto value = trim(line.substr(name.size() + 1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return std::string(value);
  }
  return "";
}

std::string profile_name(std::string_view text, std::size_t number) {
  for (const std::string_view name : {"TITLE", "ID"}) {
    auto value = setting(text, name);
    if (!value.empty()) return value;
  }
  return fmt::format("@{}", number);
}

/// A version of systemd out of "#### LoaderInfo: systemd-stub 257.13-1 ####".
std::optional<int> version_of_stub(std::string_view magic) {
  constexpr std::string_view before = "systemd-stub ";
  const auto at = magic.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  magic.remove_prefix(at + before.size());
  int version = 0;
  const auto [end, error] = std::from_chars(magic.data(), magic.data() + magic.size(), version);
  if (error != std::errc{}) return std::nullopt;
  return version;
}

/// The sections for everything, and those that a profile has of its own.
struct Parts {
  Sections base;
  Sections own;

  [[nodiscard]] const PeSection* find(std::string_view name) const {
    const auto* found = find_section(own, name);
    return found != nullptr ? found : find_section(base, name);
  }
};

/// A profile's sections follow its section `.profile`. Without any, the image boots in one way.
/// Fact: systemd-stub(7), "MULTI-PROFILE UKIS".
std::vector<Parts> parts_of(Sections sections) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].name == ".profile") starts.push_back(i);
  }
  if (starts.empty()) return {{sections, {}}};
  const auto base = sections.first(starts.front());
  starts.push_back(sections.size());
  std::vector<Parts> parts;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    parts.push_back({base, sections.subspan(starts[i], starts[i + 1] - starts[i])});
  return parts;
}

Result<UkiProfile> read_profile(const PeSource& source, const Parts& parts, std::size_t number) {
  UkiProfile profile;
  auto command_line = command_line_of(source, parts.find(".cmdline"));
  if (!command_line) return fail(command_line.error());
  profile.command_line = std::move(*command_line);
  auto release = text_of(source, parts.find(".uname"));
  if (!release) return fail(release.error());
  profile.release = std::move(*release);
  profile.has_initrd = parts.find(".initrd") != nullptr;
  if (parts.own.empty()) return profile;
  const auto description = text_of(source, &parts.own.front());
  if (!description) return fail(description.error());
  profile.name = profile_name(description->value_or(""), number);
  return profile;
}

constexpr std::string_view image_suffix = ".efi";

/// The image's file name without suffix and boot counter.
std::string stem_of(std::string_view name) {
  name.remove_suffix(image_suffix.size());
  return std::string(without_boot_counter(name));
}

/// A kernel's version out of `TOKEN-VERSION`: from the first part on that looks like one.
std::string version_in(std::string_view stem) {
  while (!cmdline::kernel_version(stem)) {
    const auto dash = stem.find('-');
    if (dash == std::string_view::npos) return "";
    stem.remove_prefix(dash + 1);
  }
  return std::string(stem);
}

/// The names that systemd-boot and systemd-stub look at, sorted as they sort them.
Result<std::vector<std::string>> list_files(const System& system, const std::string& directory,
                                            std::string_view suffix) {
  auto names = system.list(directory);
  if (!names) {
    if (names.error().code == Errc::not_found) return std::vector<std::string>{};
    return fail(names.error());
  }
  std::erase_if(*names, [&](const std::string& name) {
    const auto info = system.info(fmt::format("{}/{}", directory, name));
    return name.starts_with('.') || !ends_with_no_case(name, suffix) ||
           (info && info->kind == FileKind::directory);
  });
  return names;
}

/// Whether an addon is for this kernel.
bool fits_release(const UkiAddon& addon, const std::optional<std::string>& release) {
  if (!addon.release || !release) return true;
  return addon.release_ends ? *release == *addon.release : release->starts_with(*addon.release);
}

std::string not_readable(const System& system, const std::string& path, const Error& error) {
  if (error.code != Errc::malformed && error.code != Errc::too_large) return error.text();
  return fmt::format("'{}': isn't a readable PE image: {}", system.shown(path), error.message);
}

class Reader {
 public:
  explicit Reader(const System& system) : system_(system), secure_boot_(secure_boot(system)) {}

  /// All images of a partition.
  Result<> add_partition(const std::string& partition) {
    const auto directory = partition + std::string(image_directory);
    const auto names = list_files(system_, directory, image_suffix);
    if (!names) return fail(names.error());
    const auto global = addons_in(partition + "/loader/addons");
    if (!global) return fail(global.error());
    for (const auto& name : *names) {
      const auto path = fmt::format("{}/{}", directory, name);
      const auto source = pe_file(system_, path);
      if (!source) {
        ukis_.unfollowed.push_back(not_readable(system_, path, source.error()));
      } else if (auto added = add_image(partition, path, *source, *global); !added) {
        return added;
      }
    }
    return {};
  }

  Result<> add_image(const std::string& partition, const std::string& path, const PeSource& source,
                     const std::vector<UkiAddon>& global) {
    const auto image = read_uki_image(source);
    if (!image) {
      ukis_.unfollowed.push_back(not_readable(system_, path, image.error()));
      return {};
    }
    if (image->profiles.empty()) {
      ukis_.notes.push_back(
          fmt::format("'{}': there's no kernel in it, left out", system_.shown(path)));
      return {};
    }
    if (image->doubtful) {
      ukis_.unfollowed.push_back(fmt::format("'{}': {}", system_.shown(path), *image->doubtful));
    }
    // The image's addons are named after it without its boot counter.
    const auto directory = path.substr(0, path.rfind('/') + 1);
    const auto own =
        addons_in(fmt::format("{}{}.efi.extra.d", directory, stem_of(base_name(path))));
    if (!own) return fail(own.error());
    auto addons = global;
    addons.insert(addons.end(), own->begin(), own->end());
    for (const auto& profile : image->profiles)
      add_entry(partition, path, *image, profile, addons);
    return {};
  }

  Result<std::vector<UkiAddon>> addons_in(const std::string& directory) {
    const auto names = list_files(system_, directory, ".addon.efi");
    if (!names) return fail(names.error());
    std::vector<UkiAddon> addons;
    for (const auto& name : *names) {
      const auto path = fmt::format("{}/{}", directory, name);
      const auto source = pe_file(system_, path);
      auto addon = source ? read_uki_addon(*source, path)
                          : Result<std::optional<UkiAddon>>(fail(source.error()));
      if (!addon) {
        ukis_.unfollowed.push_back(not_readable(system_, path, addon.error()));
      } else if (*addon && admits(**addon)) {
        addons.push_back(std::move(**addon));
      }
    }
    return addons;
  }

  Ukis take() { return std::move(ukis_); }

 private:
  /// What Secure Boot makes of an addon, as far as that's known here.
  bool admits(const UkiAddon& addon) {
    if (secure_boot_ == SecureBoot::off) return true;
    if (addon.is_signed) {
      if (secure_boot_ == SecureBoot::on) {
        ukis_.notes.push_back(
            fmt::format("'{}': whether the firmware trusts its signature isn't "
                        "known",
                        system_.shown(addon.path)));
      }
      return true;
    }
    if (secure_boot_ == SecureBoot::on) {
      ukis_.notes.push_back(fmt::format("'{}': isn't signed and Secure Boot is on: left out",
                                        system_.shown(addon.path)));
      return false;
    }
    ukis_.notes.push_back(fmt::format("'{}': isn't signed: it works with Secure Boot off only",
                                      system_.shown(addon.path)));
    return true;
  }

  void add_entry(const std::string& partition, const std::string& path, const UkiImage& image,
                 const UkiProfile& profile, const std::vector<UkiAddon>& addons) {
    UkiEntry found;
    found.partition = partition;
    found.own = profile.command_line;
    found.stub_version = image.stub_version;
    for (const auto& addon : addons) {
      if (addon.machine == image.machine && fits_release(addon, profile.release)) {
        found.addons.push_back(addon);
      } else {
        ukis_.notes.push_back(fmt::format("'{}': isn't for '{}', left out there",
                                          system_.shown(addon.path), system_.shown(path)));
      }
    }
    const auto name = base_name(path);
    auto& entry = found.entry;
    entry.title = profile.name.empty() ? name : fmt::format("{} > {}", name, profile.name);
    entry.kernel = path;
    entry.version = profile.release.value_or("");
    if (entry.version.empty()) entry.version = version_in(stem_of(name));
    entry.file = path;
    entry.kernel_present = true;
    entry.has_initrd = profile.has_initrd;
    entry.command_lines = command_lines(found);
    ukis_.entries.push_back(std::move(found));
  }

  /// Without one of its own, an image gets the boot loader's, which no file holds.
  static std::vector<std::string> command_lines(const UkiEntry& found) {
    if (!found.own) return {};
    auto line = *found.own;
    for (const auto& addon : found.addons) {
      if (!line.empty() && !addon.command_line.empty()) line += ' ';
      line += addon.command_line;
    }
    std::vector<std::string> all{line};
    const bool reads_addons = found.stub_version.value_or(0) >= first_stub_with_addons;
    if (!reads_addons && line != *found.own) all.push_back(*found.own);
    return all;
  }

  const System& system_;
  SecureBoot secure_boot_;
  Ukis ukis_;
};

}  // namespace

Result<UkiImage> read_uki_image(const PeSource& source) {
  const auto pe = parse_pe_image(source);
  if (!pe) return fail(pe.error());
  UkiImage image;
  image.machine = pe->machine;
  const auto magic = text_of(source, find_section(pe->sections, ".sdmagic"));
  if (!magic) return fail(magic.error());
  image.stub_version = version_of_stub(magic->value_or(""));
  std::size_t number = 0;
  for (const auto& parts : parts_of(pe->sections)) {
    const auto profile_number = number++;
    if (parts.find(".linux") == nullptr) continue;
    auto profile = read_profile(source, parts, profile_number);
    if (!profile) return fail(profile.error());
    image.profiles.push_back(std::move(*profile));
    if (is_doubled(parts.base, ".cmdline") || is_doubled(parts.own, ".cmdline")) {
      image.doubtful = "it has two command lines, and which of them counts isn't known";
    }
  }
  return image;
}

Result<std::optional<UkiAddon>> read_uki_addon(const PeSource& source, const std::string& path) {
  const auto pe = parse_pe_image(source);
  if (!pe) return fail(pe.error());
  UkiAddon addon;
  addon.path = path;
  addon.machine = pe->machine;
  addon.is_signed = pe->is_signed;
  if (find_section(pe->sections, ".linux") != nullptr) {
    return fail(Errc::malformed, "there's a kernel in it, it's no addon");
  }
  if (is_doubled(pe->sections, ".cmdline")) {
    return fail(Errc::malformed, "it has two command lines, and which of them counts isn't known");
  }
  auto command_line = command_line_of(source, find_section(pe->sections, ".cmdline"));
  if (!command_line) return fail(command_line.error());
  if (!*command_line) return std::nullopt;
  addon.command_line = std::move(**command_line);
  const auto* release = find_section(pe->sections, ".uname");
  auto text = text_of(source, release);
  if (!text) return fail(text.error());
  addon.release = std::move(*text);
  addon.release_ends = release == nullptr || addon.release->size() < release->virtual_size;
  return addon;
}

SecureBoot secure_boot(const System& system) {
  if (!system.is_booted()) return SecureBoot::unknown;
  const auto variable = system.read(secure_boot_variable);
  if (!variable) {
    // Neither has firmware without Secure Boot such a variable, nor one that isn't UEFI's.
    return variable.error().code == Errc::not_found ? SecureBoot::off : SecureBoot::unknown;
  }
  // Four bytes of attributes come first.
  if (variable->size() != 5) return SecureBoot::unknown;
  return (*variable)[4] == 1 ? SecureBoot::on : SecureBoot::off;
}

std::vector<std::string> uki_partitions(const System& system) {
  std::vector<std::string> partitions;
  std::vector<std::string> directories;
  for (const std::string_view place : {"/boot", "/efi", "/boot/efi"}) {
    const auto directory = system.resolve(std::string(place) + std::string(image_directory));
    const auto partition = system.resolve(place);
    if (!directory || !partition || std::ranges::count(directories, *directory) > 0) continue;
    directories.push_back(*directory);
    partitions.push_back(*partition);
  }
  return partitions;
}

bool has_ukis(const System& system) {
  for (const auto& partition : uki_partitions(system)) {
    const auto directory = partition + std::string(image_directory);
    const auto names = list_files(system, directory, image_suffix);
    if (!names) continue;
    for (const auto& name : *names) {
      const auto source = pe_file(system, fmt::format("{}/{}", directory, name));
      // One that can't be read may well be an image.
      if (!source) return true;
      const auto image = read_uki_image(*source);
      if (!image || !image->profiles.empty()) return true;
    }
  }
  return false;
}

Result<Ukis> read_ukis(const System& system) {
  Reader reader(system);
  for (const auto& partition : uki_partitions(system)) {
    if (auto added = reader.add_partition(partition); !added) return fail(added.error());
  }
  return reader.take();
}

Result<Ukis> read_uki(const System& system, const std::string& path, const PeSource& source) {
  Reader reader(system);
  const auto partition = path.substr(0, path.find(image_directory));
  const auto global = reader.addons_in(partition + "/loader/addons");
  if (!global) return fail(global.error());
  if (auto added = reader.add_image(partition, path, source, *global); !added) {
    return fail(added.error());
  }
  return reader.take();
}

Inspection inspection_of(Ukis ukis) {
  Inspection inspection;
  for (auto& found : ukis.entries)
    inspection.entries.push_back(std::move(found.entry));
  inspection.notes = std::move(ukis.notes);
  inspection.unfollowed = std::move(ukis.unfollowed);
  return inspection;
}

Result<PeSource> pe_file(const System& system, const std::string& path) {
  const auto info = system.info(path);
  if (!info) return fail(info.error());
  if (info->kind != FileKind::regular) return fail(Errc::malformed, "it isn't a regular file");
  return PeSource{info->size, [&system, path](std::uint64_t offset, std::size_t length) {
                    return system.read_range(path, offset, length);
                  }};
}

}  // namespace peerpath::boot
