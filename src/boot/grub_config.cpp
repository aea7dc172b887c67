// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_config.hpp"

#include "base/text.hpp"
#include "boot/grub_script.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

std::string base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string directory_of(std::string_view path) {
  return std::string(path.substr(0, path.rfind('/')));
}

bool loads_linux(const std::string& verb) {
  return verb == "linux" || verb == "linux16" || verb == "linuxefi";
}

/// Images that are loaded like Linux but aren't: memtest86+ and iPXE.
bool is_other_program(const std::string& name) {
  return name.starts_with("memtest") || name.ends_with(".lkrn");
}

std::string version_in(const std::string& name) {
  for (const std::string_view prefix : {"vmlinuz-", "vmlinux-", "kernel-", "linux-", "bzImage-"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return "";
}

/// An entry's image may be named from the file system's own root (`/vmlinuz-…` with a separate
/// /boot, `/@/boot/…` on btrfs), so the name in /boot decides.
bool is_in_root(const System& system, const std::string& kernel) {
  return system.exists("/boot/" + base_name(kernel)) || system.exists(kernel);
}

/// Variables of the environment block: `name=value` lines padded with `#`.
void add_environment_block(const System& system, const std::string& directory,
                           GrubVariables& variables) {
  const auto block = system.read(directory + "/grubenv");
  if (!block) return;
  for (const auto line : lines(*block)) {
    const auto equals = line.find('=');
    if (line.starts_with('#') || equals == std::string_view::npos) continue;
    auto& values = variables[std::string(line.substr(0, equals))];
    values.emplace_back(line.substr(equals + 1));
  }
}

Result<std::vector<GrubCommand>> read_commands(const System& system, const std::string& path) {
  const auto text = system.read(path);
  if (!text) return fail(text.error());
  auto commands = parse_grub_script(*text);
  if (!commands) {
    commands.error().message =
        fmt::format("'{}': {}", system.shown(path), commands.error().message);
  }
  return commands;
}

class Reader {
 public:
  Reader(const System& system, GrubVariables variables)
      : system_(system), variables_(std::move(variables)) {}

  void add(const std::vector<GrubCommand>& commands, const std::string& file) {
    for (const auto& command : commands) {
      const auto verb = text_of(command.words.front());
      if (verb.starts_with("multiboot") && command.words.size() > 1) {
        note(file, command, fmt::format("'{}' is a hypervisor", text_of(command.words[1])));
      }
      if (loads_linux(verb) && command.words.size() > 1) add_entry(command, file);
    }
  }

  Inspection take() { return std::move(inspection_); }

 private:
  void add_entry(const GrubCommand& command, const std::string& file) {
    const auto kernel = text_of(command.words[1]);
    const auto name = base_name(kernel);
    if (is_other_program(name))
      return note(file, command, fmt::format("'{}' is not Linux", kernel));
    // os-prober's entries boot other installations, which have settings of their own.
    if (command.section.ends_with("os-prober")) {
      return note(file, command, fmt::format("'{}' belongs to another system", kernel));
    }
    Entry entry;
    entry.title = join(command.titles, " > ");
    entry.kernel = kernel;
    entry.version = version_in(name);
    entry.file = file;
    entry.line = command.line;
    entry.generated = base_name(command.section) == "10_linux";
    entry.kernel_present = is_in_root(system_, kernel);
    for (auto& line : kernel_lines({command.words.begin() + 2, command.words.end()}, variables_)) {
      // GRUB's own word counts for the length limit (grub-core/loader/i386/linux.c).
      entry.command_lines.push_back(fmt::format("BOOT_IMAGE={} {}", kernel, line));
    }
    inspection_.entries.push_back(std::move(entry));
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
  const auto commands = read_commands(system, file);
  if (!commands && commands.error().code == Errc::not_found &&
      !system.link_info(file).has_value()) {
    Inspection none;
    none.missing = file;
    return none;
  }
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
