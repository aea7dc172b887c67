// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_config.hpp"

#include "base/text.hpp"
#include "boot/grub_script.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

bool loads_linux(const std::string& verb) {
  return verb == "linux" || verb == "linux16" || verb == "linuxefi";
}

/// Images that are loaded like Linux but aren't: memtest86+ and iPXE.
bool is_other_program(const std::string& name) {
  return name.starts_with("memtest") || name == "ipxe.lkrn";
}

/// Commands whose effect isn't in this file.
bool leads_elsewhere(const std::string& verb) {
  return verb == "source" || verb == "." || verb == "configfile" || verb == "blscfg" ||
         verb == "eval" || verb == "chainloader" || verb.starts_with("extract_entries") ||
         verb.starts_with("legacy_");
}

/// Whether a variable says which command it is.
bool is_unknown_command(const GrubWord& word) {
  return !word.empty() && word.front().variable;
}

std::string version_in(const std::string& name) {
  for (const std::string_view prefix : {"vmlinuz-", "vmlinux-", "kernel-", "linux-", "bzImage-"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return "";
}

/// Where the image is in this root, if it is. An entry may name it from the file system's own
/// root: `/vmlinuz-…` with a separate /boot, `/@/boot/…` on btrfs.
std::optional<std::string> find_kernel(const System& system, const std::string& kernel) {
  for (const auto& path : {kernel, "/boot" + kernel, "/boot/" + base_name(kernel)}) {
    if (path.starts_with('/') && system.exists(path)) return path;
  }
  return std::nullopt;
}

/// From the image's name; a link's target tells more than `/vmlinuz` does.
std::string version_of(const System& system, const std::string& kernel,
                       const std::optional<std::string>& found) {
  if (found) {
    if (const auto resolved = system.resolve(*found)) return version_in(base_name(*resolved));
  }
  return version_in(base_name(kernel));
}

/// Variables of the environment block: `name=value` lines padded with `#`.
void add_environment_block(const System& system, const std::string& directory,
                           GrubVariables& variables) {
  const auto block = system.read(directory + "/grubenv");
  if (!block) return;
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
      } else if (verb == "chainloader") {
        ++inspection_.chain_loaded;
      } else if (verb == "set" && first.starts_with("superusers=")) {
        inspection_.has_password = true;
      }
      // Both of 41_custom's branches lead to the file that's read here as well.
      const bool custom = verb == "source" && first.ends_with("/custom.cfg");
      if ((leads_elsewhere(verb) || is_unknown_command(command.words.front())) && !custom &&
          !of_others) {
        inspection_.unfollowed.push_back(fmt::format("{}:{}: what '{}' leads to isn't known",
                                                     system_.shown(file), command.line,
                                                     join({verb, first}, " ")));
      }
    }
  }

  Inspection take() { return std::move(inspection_); }

 private:
  void add_entry(const GrubCommand& command, const std::string& file) {
    const auto kernel = text_of(command.words[1]);
    if (is_other_program(base_name(kernel))) {
      return note(file, command, fmt::format("'{}' is not Linux", kernel));
    }
    const auto found = find_kernel(system_, kernel);
    const bool known_name = base_name(kernel).find('$') == std::string::npos;
    Entry entry;
    entry.title = join(command.titles, " > ");
    entry.kernel = kernel;
    entry.version = version_of(system_, kernel, found);
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
  GrubVariables variables_;
  Inspection inspection_;
};

}  // namespace

Result<Inspection> read_grub_config(const System& system, std::string_view path) {
  const std::string file(path);
  const auto text = system.read(file);
  if (!text && text.error().code == Errc::not_found && !system.link_info(file).has_value()) {
    Inspection none;
    none.missing = file;
    return none;
  }
  if (!text) return fail(text.error());
  return parse_grub_config(system, file, *text);
}

Result<Inspection> parse_grub_config(const System& system, const std::string& file,
                                     const std::string& text) {
  const auto commands = parse_commands(system, file, text);
  if (!commands) return fail(commands.error());

  // 41_custom reads this file at boot where it exists.
  const auto custom_file = directory_of(file) + "/custom.cfg";
  std::vector<GrubCommand> custom;
  if (system.link_info(custom_file)) {
    auto read = read_commands(system, custom_file);
    if (!read) return fail(read.error());
    custom = std::move(*read);
  }

  auto all = *commands;
  all.insert(all.end(), custom.begin(), custom.end());
  auto variables = variables_of(all);
  add_environment_block(system, directory_of(file), variables);
  Reader reader(system, std::move(variables));
  reader.add(*commands, file);
  reader.add(custom, custom_file);
  return reader.take();
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
