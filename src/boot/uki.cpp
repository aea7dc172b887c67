// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/uki.hpp"

#include "base/text.hpp"
#include "boot/added_word.hpp"
#include "boot/judge_entry.hpp"
#include "boot/kernel_cmdline.hpp"
#include "boot/ledger.hpp"
#include "boot/produce.hpp"
#include "boot/uki_image.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

/// `name=value` in kernel-install's settings, and drop-ins of it.
bool says(const System& system, const std::string& path, std::string_view name,
          std::string_view value) {
  const auto text = system.read(path);
  if (!text) return false;
  return std::ranges::any_of(lines(*text), [&](std::string_view line) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || trim(line.substr(0, equals)) != name) return false;
    const auto given = trim(line.substr(equals + 1));
    return value.empty() ? !given.empty() && given != "none" : given == value;
  });
}

/// Whether kernel-install makes the images. Fact: kernel-install(8), install.conf.
bool builds_images(const System& system) {
  std::vector<std::string> files{system.exists("/etc/kernel/install.conf")
                                     ? "/etc/kernel/install.conf"
                                     : "/usr/lib/kernel/install.conf"};
  for (const std::string directory :
       {"/usr/lib/kernel/install.conf.d", "/etc/kernel/install.conf.d"}) {
    for (const auto& name : system.list(directory).value_or(std::vector<std::string>{})) {
      if (name.ends_with(".conf")) files.push_back(fmt::format("{}/{}", directory, name));
    }
  }
  return std::ranges::any_of(files, [&](const std::string& file) {
    return says(system, file, "layout", "uki") || says(system, file, "uki_generator", "");
  });
}

bool is_built_here(const System& system) {
  return system.exists(kernel_cmdline_path) || builds_images(system);
}

std::optional<cmdline::Word> contrary_word(std::string_view line, const Request& request,
                                           const Entry& entry) {
  return cmdline::contradicts_passthrough(
      cmdline::judge(line, request.arch, cmdline::kernel_version(entry.version)));
}

/// The file that a contrary word of an entry is in.
std::string file_of(const UkiEntry& found, const std::string& word, const Request& request) {
  for (auto addon = found.addons.rbegin(); addon != found.addons.rend(); ++addon) {
    const auto contrary = contrary_word(addon->command_line, request, found.entry);
    if (contrary && contrary->text == word) return addon->path;
  }
  return found.entry.file;
}

/// The administrator's word that forbids going on. One in an image that's built here tells but
/// what was in the settings then.
std::optional<Conflict> find_conflict(const Ukis& ukis, const Request& request, bool built_here) {
  for (const auto& found : ukis.entries) {
    for (const auto& line : found.entry.command_lines) {
      const auto word = contrary_word(line, request, found.entry);
      if (!word) continue;
      auto file = file_of(found, word->text, request);
      if (!built_here || file != found.entry.file) return Conflict{word->text, std::move(file), 0};
    }
  }
  return std::nullopt;
}

/// The images that don't boot as they should.
std::vector<UkiEntry> stale_entries(const Ukis& ukis, const Request& request) {
  std::vector<UkiEntry> stale;
  for (const auto& found : ukis.entries) {
    if (!judge_entries({found.entry}, request.arch).front().untranslated()) stale.push_back(found);
  }
  return stale;
}

/// How an image is built anew.
std::string rebuilding(const System& system, const Entry& entry) {
  const auto& version = entry.version;
  if (version.empty()) return fmt::format("build '{}' anew", system.shown(entry.file));
  auto image = fmt::format("/boot/vmlinuz-{}", version);
  // Debian's kernel packages have their image there, and are named like this.
  if (system.exists("/usr/sbin/dpkg-reconfigure") && system.exists(image)) {
    return fmt::format("run 'dpkg-reconfigure linux-image-{}'", version);
  }
  if (const auto own = fmt::format("/usr/lib/modules/{}/vmlinuz", version);
      system.exists(own) || !system.exists(image)) {
    image = own;
  }
  return fmt::format("run 'kernel-install add {} {}'", version, image);
}

/// What's to be done by hand for these entries, each command once.
Deferred rebuilding_all(const System& system, std::string what,
                        const std::vector<UkiEntry>& entries) {
  std::vector<std::string> commands;
  for (const auto& found : entries) {
    auto command = rebuilding(system, found.entry);
    if (std::ranges::count(commands, command) == 0) commands.push_back(std::move(command));
  }
  return {std::move(what), "their command line is a part of them", join(commands, "; ")};
}

Result<Plan> plan_rebuilding(const System& system, const Request& request,
                             const std::vector<UkiEntry>& stale) {
  Plan plan;
  if (!system.exists(kernel_cmdline_path)) {
    if (stale.empty()) return plan;
    return fail(Errc::unsupported,
                fmt::format("'{}': the unified kernel images are built here, without '{}'; put "
                            "their whole command line and '{}' into it and {}",
                            system.root(), system.shown(kernel_cmdline_path),
                            cmdline::passthrough_word(request.arch),
                            rebuilding(system, stale.front().entry)));
  }
  if (auto added = add_kernel_cmdline(system, request, plan); !added) return fail(added.error());
  if (!plan.conflict && !stale.empty()) {
    plan.deferred.push_back(
        rebuilding_all(system, "the unified kernel images must be built anew", stale));
  }
  return plan;
}

Result<std::string> find_ukify(const System& system) {
  for (const std::string path : {"/usr/bin/ukify", "/usr/lib/systemd/ukify"}) {
    if (system.exists(path)) return path;
  }
  return fail(Errc::unsupported,
              fmt::format("'{}': there's no ukify to make the addon with; install the package "
                          "systemd-ukify",
                          system.root()));
}

Result<std::string> find_addon_stub(const System& system, cmdline::Arch arch) {
  auto path = fmt::format("/usr/lib/systemd/boot/efi/addon{}.efi.stub",
                          arch == cmdline::Arch::arm64 ? "aa64" : "x64");
  if (system.exists(path)) return path;
  return fail(
      Errc::unsupported,
      fmt::format("'{}': it's what addons are made from; install the package "
                  "systemd-boot-efi (on Fedora systemd-boot-unsigned), version 254 or newer",
                  system.shown(path)));
}

/// Whether the addon can be signed as asked for. Errors: unsupported, not_found.
Result<> check_keys(const System& system, const Request& request) {
  if (request.secure_boot_key.empty() && secure_boot(system) == SecureBoot::on) {
    return fail(Errc::unsupported,
                "Secure Boot is on and would ignore an addon that isn't signed: set "
                "'secure-boot-key' and 'secure-boot-certificate' in "
                "'/etc/peerpath/peerpath.conf'");
  }
  for (const auto& file : {request.secure_boot_key, request.secure_boot_certificate}) {
    if (file.empty()) continue;
    if (const auto info = system.info(file); !info) return fail(info.error());
  }
  return {};
}

Result<std::vector<std::string>> addon_command(const System& system, const Request& request) {
  if (const auto keys = check_keys(system, request); !keys) return fail(keys.error());
  const auto ukify = find_ukify(system);
  if (!ukify) return fail(ukify.error());
  const auto stub = find_addon_stub(system, request.arch);
  if (!stub) return fail(stub.error());
  // Without ukify's own settings, which are for whole images: they may add an initrd.
  std::vector<std::string> command{
      *ukify, "build", "--config=/dev/null",
      fmt::format("--cmdline={}", cmdline::passthrough_word(request.arch)), "--stub=" + *stub};
  if (!request.secure_boot_key.empty()) {
    command.push_back("--secureboot-private-key=" + request.secure_boot_key);
    command.push_back("--secureboot-certificate=" + request.secure_boot_certificate);
  }
  command.emplace_back("--output");
  return command;
}

struct OwnAddon {
  bool is_there = false;
  bool is_signed = false;
};

/// Our addon as it is now. Errors: conflict where somebody else's file has that name.
Result<OwnAddon> read_own_addon(const System& system, const std::string& path) {
  if (!system.link_info(path)) return OwnAddon{};
  const auto source = pe_file(system, path);
  const auto addon = source ? read_uki_addon(*source, path)
                            : Result<std::optional<UkiAddon>>(fail(source.error()));
  const auto is_word = [](std::string_view text) {
    return text == cmdline::passthrough_word(cmdline::Arch::x86_64) ||
           text == cmdline::passthrough_word(cmdline::Arch::arm64);
  };
  if (addon && *addon && is_word((*addon)->command_line)) {
    return OwnAddon{true, (*addon)->is_signed};
  }
  return fail(Errc::conflict,
              fmt::format("'{}': not written by peerpath, left alone", system.shown(path)));
}

/// Why an addon wouldn't help an image, if so.
std::optional<std::string> cannot_take_addon(const System& system, const UkiEntry& found) {
  if (found.stub_version && *found.stub_version >= first_stub_with_addons) return std::nullopt;
  const auto stub = found.stub_version ? fmt::format("systemd-stub {}", *found.stub_version)
                                       : std::string("another than systemd-stub");
  return fmt::format("'{}': its stub is {}, which may not read addons (systemd-stub does since {})",
                     system.shown(found.entry.file), stub, first_stub_with_addons);
}

/// What a killed run left of an addon, though the addon itself may be in place.
void clear_half_made(const System& system, const std::string& path, Plan& plan) {
  for (const auto& half : half_produced(path)) {
    if (system.link_info(half)) plan.steps.emplace_back(RemoveFile{half});
  }
}

Result<Plan> plan_addon(const System& system, const Request& request,
                        const std::vector<UkiEntry>& stale) {
  Plan plan;
  for (const auto& partition : uki_partitions(system))
    clear_half_made(system, partition + std::string(Uki::addon_path), plan);
  if (stale.empty()) return plan;
  const auto word = std::string(cmdline::passthrough_word(request.arch));
  if (!request.uki_addon) {
    return fail(
        Errc::unsupported,
        fmt::format("'{}': a unified kernel image that was built elsewhere; 'uki-addon=yes' "
                    "in '/etc/peerpath/peerpath.conf' adds '{}' by an addon beside it",
                    system.shown(stale.front().entry.file), word));
  }
  for (const auto& found : stale) {
    if (auto reason = cannot_take_addon(system, found)) {
      return fail(Errc::unsupported, std::move(*reason));
    }
    for (const auto& line : found.entry.command_lines) {
      const auto after = cmdline::judge(fmt::format("{} {}", line, word), request.arch,
                                        cmdline::kernel_version(found.entry.version));
      if (cmdline::is_untranslated(after.mode)) continue;
      return fail(Errc::unsupported,
                  fmt::format("'{}': '{}' at the end of its command line wouldn't work (an open "
                              "quote, a '--', or a line that's too long)",
                              system.shown(found.entry.file), word));
    }
  }
  const auto command = addon_command(system, request);
  if (!command) return fail(command.error());
  std::vector<std::string> done;
  for (const auto& found : stale) {
    const auto path = found.partition + std::string(Uki::addon_path);
    if (std::ranges::count(done, path) > 0) continue;
    done.push_back(path);
    const auto own = read_own_addon(system, path);
    if (!own) return fail(own.error());
    const bool needs_signing = !request.secure_boot_key.empty() && !own->is_signed;
    if (own->is_there && !needs_signing) continue;
    plan.steps.emplace_back(Produce{path, *command, word, !request.secure_boot_key.empty()});
  }
  return plan;
}

/// Removes our addons, whole and half-made.
Result<> take_addons(const System& system, Plan& plan) {
  std::vector<std::string> done;
  for (const std::string_view place : {"/boot", "/efi", "/boot/efi"}) {
    const auto partition = system.resolve(place);
    if (!partition) continue;
    const auto path = *partition + std::string(Uki::addon_path);
    if (std::ranges::count(done, path) > 0) continue;
    done.push_back(path);
    const auto own = read_own_addon(system, path);
    if (!own) return fail(own.error());
    if (own->is_there) plan.steps.emplace_back(RemoveFile{path});
    clear_half_made(system, path, plan);
  }
  return {};
}

}  // namespace

bool Uki::detect(const System& system) const {
  return has_ukis(system);
}

Result<Inspection> Uki::inspect(const System& system) const {
  auto ukis = read_ukis(system);
  if (!ukis) return fail(ukis.error());
  return inspection_of(std::move(*ukis));
}

Result<Inspection> Uki::inspect_artefact(const System& system, const std::string& path,
                                         const std::string& content) const {
  auto ukis = read_uki(system, path, pe_bytes(content));
  if (!ukis) return fail(ukis.error());
  return inspection_of(std::move(*ukis));
}

Result<Plan> Uki::plan(const System& system, const Request& request) const {
  const auto ukis = read_ukis(system);
  if (!ukis) return fail(ukis.error());
  const bool built_here = is_built_here(system);
  if (auto conflict = find_conflict(*ukis, request, built_here); conflict && !request.force) {
    Plan plan;
    plan.conflict = std::move(*conflict);
    return plan;
  }
  const auto stale = stale_entries(*ukis, request);
  return built_here ? plan_rebuilding(system, request, stale) : plan_addon(system, request, stale);
}

Result<Plan> Uki::plan_revert(const System& system) const {
  Plan plan;
  if (auto taken = take_addons(system, plan); !taken) return fail(taken.error());
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return plan;
  const auto steps = plan.steps.size();
  if (auto taken = take_kernel_cmdline(system, **ledger, plan); !taken) return fail(taken.error());
  if (plan.steps.size() == steps) return plan;
  // Images that were built since then keep the word.
  auto ukis = read_ukis(system);
  if (!ukis) return fail(ukis.error());
  std::erase_if(ukis->entries, [](const UkiEntry& found) {
    const auto line = found.own.value_or("");
    return !has_word(line, cmdline::passthrough_word(cmdline::Arch::x86_64)) &&
           !has_word(line, cmdline::passthrough_word(cmdline::Arch::arm64));
  });
  if (!ukis->entries.empty()) {
    plan.deferred.push_back(rebuilding_all(
        system, "the unified kernel images keep the word until they're built anew", ukis->entries));
  }
  return plan;
}

}  // namespace peerpath::boot
