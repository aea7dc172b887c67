// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_config.hpp"

#include "base/text.hpp"
#include "boot/grub_script.hpp"
#include "boot/kernel_image.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

bool loads_linux(const std::string& verb) {
  return verb == "linux" || verb == "linux16" || verb == "linuxefi";
}

/// Commands whose effect isn't in this file.
bool leads_elsewhere(const std::string& verb) {
  return verb == "source" || verb == "." || verb == "configfile" || verb == "uki" ||
         verb == "eval" || verb == "chainloader" || verb.starts_with("extract_entries") ||
         verb.starts_with("legacy_");
}

/// Whether a variable says which command it is.
bool is_unknown_command(const GrubWord& word) {
  return !word.empty() && word.front().variable;
}

/// Variables of the environment block: `name=value` lines padded with `#`.
void add_environment_block(const System& system, const std::string& directory,
                           GrubVariables& variables) {
  const auto path = directory + "/grubenv";
  const auto block = system.read(path);
  if (!block) {
    // A link to a file that isn't there now may lead somewhere at boot: to an ESP.
    const bool none = block.error().code == Errc::not_found && !system.link_info(path);
    variables.environment_unread = !none;
    return;
  }
  for (const auto line : lines(*block)) {
    const auto equals = line.find('=');
    if (line.starts_with('#') || equals == std::string_view::npos) continue;
    auto& values = variables.values[std::string(line.substr(0, equals))];
    values.emplace_back(line.substr(equals + 1));
  }
}

Result<std::vector<GrubCommand>> parse_commands(const System& system, const std::string& path,
                                                const std::string& text) {
  auto commands = parse_grub_script(text);
  if (!commands) {
    commands.error().message =
        fmt::format("'{}': {}", system.shown(path), commands.error().message);
  }
  return commands;
}

Result<std::vector<GrubCommand>> read_commands(const System& system, const std::string& path) {
  const auto text = system.read(path);
  if (!text) return fail(text.error());
  return parse_commands(system, path, *text);
}

class Reader {
 public:
  Reader(const System& system, GrubVariables variables)
      : system_(system), variables_(std::move(variables)) {}

  void add(const std::vector<GrubCommand>& commands, const std::string& file) {
    for (const auto& command : commands) {
      if (command.in_menu_entry) inspection_.is_menu = true;
      const auto verb = text_of(command.words.front());
      const auto first = command.words.size() > 1 ? text_of(command.words[1]) : "";
      // os-prober's entries boot other installations, which have settings of their own.
      const bool of_others = command.section.ends_with("os-prober");
      if (verb.starts_with("multiboot")) {
        note(file, command, fmt::format("'{}' is a hypervisor", first));
      } else if (loads_linux(verb) && of_others) {
        note(file, command, fmt::format("'{}' belongs to another system", first));
      } else if (loads_linux(verb) && command.words.size() > 1) {
        add_entry(command, file);
      } else if (verb == "initrd" || verb == "initrd16" || verb == "initrdefi") {
        add_initrd(command);
      } else if (verb == "blscfg" || verb == "bls_import") {
        inspection_.takes_bls_entries = true;
      } else if (verb == "chainloader") {
        ++inspection_.chain_loaded;
      } else if (verb == "set" && first.starts_with("superusers=")) {
        inspection_.has_password = true;
      }
      // Both of 41_custom's branches lead to the file that's read here as well; Fedora's 01_users
      // sources user.cfg, which holds a password.
      const bool custom =
          verb == "source" && (first.ends_with("/custom.cfg") || first.ends_with("/user.cfg"));
      if ((leads_elsewhere(verb) || is_unknown_command(command.words.front())) && !custom &&
          !of_others) {
        inspection_.unfollowed.push_back(fmt::format("{}:{}: what '{}' leads to isn't known",
                                                     system_.shown(file), command.line,
                                                     join({verb, first}, " ")));
      }
    }
  }

  GrubConfig take() { return std::move(inspection_); }

 private:
  void add_entry(const GrubCommand& command, const std::string& file) {
    const auto kernel = text_of(command.words[1]);
    if (is_other_program(kernel)) {
      return note(file, command, fmt::format("'{}' is not Linux", kernel));
    }
    const auto found = kernels_.find(kernel);
    const bool known_name = base_name(kernel).find('$') == std::string::npos;
    Entry entry;
    entry.title = join(command.titles, " > ");
    entry.kernel = kernel;
    entry.version = kernel_version_of(system_, kernel, found);
    entry.file = file;
    entry.line = command.line;
    entry.generated = base_name(command.section) == "10_linux";
    // An image whose name isn't known until the boot may well be one of this root.
    entry.kernel_present = found || !known_name;
    if (known_name) {
      for (auto& line :
           kernel_lines({command.words.begin() + 2, command.words.end()}, variables_)) {
        // GRUB's own word counts for the length limit (grub-core/loader/i386/linux.c).
        entry.command_lines.push_back(fmt::format("BOOT_IMAGE={} {}", kernel, line));
      }
    }
    inspection_.entries.push_back(std::move(entry));
  }

  void add_initrd(const GrubCommand& command) {
    if (inspection_.entries.empty()) return;
    auto& entry = inspection_.entries.back();
    if (entry.title == join(command.titles, " > ")) entry.has_initrd = true;
  }

  void note(const std::string& file, const GrubCommand& command, const std::string& what) {
    inspection_.notes.push_back(
        fmt::format("{}:{}: {}, left out", system_.shown(file), command.line, what));
  }

  const System& system_;
  KernelFinder kernels_{system_};
  GrubVariables variables_;
  GrubConfig inspection_;
};

}  // namespace

Result<GrubConfig> read_grub_config(const System& system, std::string_view path) {
  const std::string file(path);
  const auto text = system.read(file);
  if (!text && text.error().code == Errc::not_found && !system.link_info(file).has_value()) {
    GrubConfig none;
    none.missing = file;
    return none;
  }
  if (!text) return fail(text.error());
  return parse_grub_config(system, file, *text);
}

Result<GrubConfig> parse_grub_config(const System& system, const std::string& file,
                                     const std::string& text) {
  const auto commands = parse_commands(system, file, text);
  if (!commands) return fail(commands.error());

  auto all = *commands;
  std::vector<std::pair<std::string, std::vector<GrubCommand>>> sourced;
  // 41_custom and 01_users read these at boot where they exist.
  for (const auto* name : {"/custom.cfg", "/user.cfg"}) {
    const auto path = directory_of(file) + name;
    if (!system.link_info(path)) continue;
    auto read = read_commands(system, path);
    if (!read) return fail(read.error());
    all.insert(all.end(), read->begin(), read->end());
    sourced.emplace_back(path, std::move(*read));
  }
  auto variables = variables_of(all);
  add_environment_block(system, directory_of(file), variables);
  Reader reader(system, variables);
  reader.add(*commands, file);
  for (const auto& [path, more] : sourced)
    reader.add(more, path);
  auto inspection = reader.take();
  inspection.variables = std::move(variables);
  return inspection;
}

std::vector<std::string> find_grub_configs(const System& system) {
  // The links lead to the file that the distribution's GRUB reads: on the ESP on RHEL 8.
  std::vector<std::string> candidates{std::string(grub_config_path), "/boot/grub2/grub.cfg",
                                      "/etc/grub2.cfg", "/etc/grub2-efi.cfg"};
  for (const std::string_view esp : {"/boot/efi/EFI", "/efi/EFI"}) {
    for (const auto& vendor : system.list(esp).value_or(std::vector<std::string>{}))
      candidates.push_back(fmt::format("{}/{}/grub.cfg", esp, vendor));
  }
  std::vector<std::string> found;
  for (const auto& candidate : candidates) {
    auto path = system.resolve(candidate);
    if (!path || std::ranges::find(found, *path) != found.end()) continue;
    const auto config = read_grub_config(system, *path);
    // One that can't be read is kept: whoever wants it will say why.
    if (!config || !config->is_stub()) found.push_back(std::move(*path));
  }
  return found;
}

Result<bool> boots_xen(const System& system, std::string_view path) {
  const auto commands = read_commands(system, std::string(path));
  if (!commands) {
    if (commands.error().code == Errc::not_found) return false;
    return fail(commands.error());
  }
  return std::any_of(commands->begin(), commands->end(), [](const GrubCommand& command) {
    return text_of(command.words.front()).starts_with("multiboot") && command.words.size() > 1 &&
           base_name(text_of(command.words[1])).starts_with("xen");
  });
}

Result<std::string> through_grub(std::string_view value) {
  const auto commands = parse_grub_script("linux /vmlinuz " + std::string(value));
  if (!commands) return fail(commands.error());
  if (commands->size() != 1) {
    return fail(Errc::malformed, fmt::format("'{}' is more than one command to GRUB", value));
  }
  const auto& words = commands->front().words;
  // What a variable will hold is known only when GRUB runs; the generated file is judged again.
  const auto found = kernel_lines({words.begin() + 2, words.end()}, {});
  return found.front();
}

}  // namespace peerpath::boot
