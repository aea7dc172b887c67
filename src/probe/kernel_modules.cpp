// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/kernel_modules.hpp"

#include "base/text.hpp"
#include "probe/kmod_library.hpp"
#include "probe/module_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

namespace peerpath::probe {
namespace {

/// An H100 as a 3D controller (class 0302) and as a VGA one (0300).
constexpr std::array<const char*, 2> display_aliases{
    "pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00",
    "pci:v000010DEd00002330sv000010DEsd000016C1bc03sc00i00"};

using Context = std::unique_ptr<kmod_ctx, decltype(&kmod_unref)>;
using Modules = std::unique_ptr<kmod_list, decltype(&kmod_module_unref_list)>;
using Module = std::unique_ptr<kmod_module, decltype(&kmod_module_unref)>;

/// libkmod, set up for one kernel's modules.
struct Kmod {
  KmodLibrary calls;
  Context context;
};

void say_nothing(void* /*data*/, int /*priority*/, const char* /*file*/, int /*line*/,
                 const char* /*function*/, const char* /*format*/, va_list /*arguments*/) {}

/// Refuses indexes that libkmod would follow out of the root, and those on which it would crash.
Result<> check_index(const System& system, const std::string& path, bool needed) {
  const auto info = system.link_info(path);
  if (!info && info.error().code == Errc::not_found && !needed) return {};
  if (!info) return fail(info.error());
  if (info->kind != FileKind::regular) {
    return fail(Errc::unsupported,
                fmt::format("'{}': not a regular file, not followed", system.shown(path)));
  }
  const auto content = system.read(path);
  if (!content) return fail(content.error());
  // depmod leaves an empty file where it has nothing to index of what is built in.
  if (content->empty() && !needed) return {};
  if (is_whole_index(*content)) return {};
  return fail(Errc::malformed, fmt::format("'{}': not a whole index", system.shown(path)));
}

Result<> check_indexes(const System& system, const std::string& directory) {
  for (const std::string_view name : {"modules.dep.bin", "modules.alias.bin", "modules.builtin.bin",
                                      "modules.builtin.alias.bin"}) {
    const bool needed = name == "modules.dep.bin" || name == "modules.alias.bin";
    auto checked = check_index(system, fmt::format("{}/{}", directory, name), needed);
    if (!checked) return checked;
  }
  return {};
}

Result<Kmod> open_kmod(const System& system, const std::string& directory) {
  const auto library = load_kmod();
  if (!library) return fail(library.error());
  // With an empty list of files, libkmod reads no modprobe.d. It does read /proc/cmdline, always,
  // and keeps blacklists and options from there: they're this boot's, so we ask for neither.
  const std::array<const char*, 1> no_configuration{nullptr};
  Context context(library->create(system.shown(directory).c_str(), no_configuration.data()),
                  library->unref);
  if (!context) return fail(Errc::internal, "libkmod can't be set up");
  library->set_log_fn(context.get(), say_nothing, nullptr);
  return Kmod{*library, std::move(context)};
}

/// The modules to which a name or an alias leads; null where there are none.
Result<Modules> look_up(const Kmod& kmod, const char* alias) {
  kmod_list* list = nullptr;
  const int error = kmod.calls.module_new_from_lookup(kmod.context.get(), alias, &list);
  Modules modules(list, kmod.calls.module_unref_list);
  // An index that isn't there counts as empty; those that must be were looked for before.
  if (error < 0 && error != -ENOSYS && error != -ENOENT) {
    return fail(system_error(-error, "its modules can't be looked up"));
  }
  return modules;
}

bool contains(const std::vector<DisplayModule>& modules, const std::string& name) {
  return std::any_of(modules.begin(), modules.end(),
                     [&](const DisplayModule& module) { return module.name == name; });
}

/// Adds the modules to which a name or an alias leads, each once.
Result<> add_display_modules(const Kmod& kmod, const char* alias,
                             std::vector<DisplayModule>& display) {
  const auto list = look_up(kmod, alias);
  if (!list) return fail(list.error());
  const auto& calls = kmod.calls;
  for (auto* entry = list->get(); entry != nullptr; entry = calls.list_next(list->get(), entry)) {
    const Module module(calls.module_get_module(entry), calls.module_unref);
    const auto name = module_name(calls.module_get_name(module.get()));
    // Only what depmod found as a file has a path.
    if (!contains(display, name)) {
      display.push_back({name, calls.module_get_path(module.get()) == nullptr});
    }
  }
  return {};
}

Result<bool> has_module(const Kmod& kmod, const char* name) {
  const auto list = look_up(kmod, name);
  if (!list) return fail(list.error());
  return *list != nullptr;
}

/// Debian's packages call theirs nvidia-current, nvidia-tesla and the like.
bool is_nvidias(const std::string& module) {
  return module == "nvidia" || module.starts_with("nvidia_");
}

/// The values of a kernel parameter, in the order of the command line.
std::vector<std::string> values_of(const std::vector<std::string>& command_line,
                                   std::string_view parameter) {
  std::vector<std::string> values;
  for (const auto& word : command_line) {
    const auto equals = word.find('=');
    if (equals != std::string::npos && module_name(word.substr(0, equals)) == parameter) {
      values.push_back(word.substr(equals + 1));
    }
  }
  return values;
}

bool lists_module(const std::vector<std::string>& values, const std::string& module) {
  return std::any_of(values.begin(), values.end(), [&](const std::string& value) {
    const auto names = split(value, ',');
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return module_name(name) == module; });
  });
}

/// An install command that does nothing in the module's place.
bool installs_nothing(const ModprobeLine& line) {
  const auto parts = words(line.rest);
  if (parts.empty()) return false;
  const auto program = parts.front().substr(parts.front().find_last_of('/') + 1);
  return program == "true" || program == "false" || program == ":";
}

bool kept_from_loading(const ModuleSettings& settings, const std::string& module) {
  return std::any_of(
      settings.modprobe.begin(), settings.modprobe.end(), [&](const ModprobeLine& line) {
        if (line.name != module) return false;
        return line.command == "blacklist" || (line.command == "install" && installs_nothing(line));
      });
}

/// The value that a module's option has in the end: the command line's comes last.
std::string option_value(const ModuleSettings& settings, const std::vector<std::string>& words_of,
                         const std::string& module, const std::string& option, bool built_in) {
  std::string value;
  for (const auto& line : settings.modprobe) {
    if (built_in || line.command != "options" || line.name != module) continue;
    for (const auto word : words(line.rest)) {
      const auto equals = word.find('=');
      if (word.substr(0, equals) == option && equals != std::string_view::npos) {
        value = word.substr(equals + 1);
      }
    }
  }
  for (const auto& last : values_of(words_of, fmt::format("{}.{}", module, option)))
    value = last;
  return value;
}

enum class Claim { none, outside_initrd, everywhere };

/// Whether a module gets the GPUs with this command line.
Claim claim_of(const ModuleSettings& settings, const DisplayModule& module,
               const std::vector<std::string>& command_line) {
  if (module.name == "nouveau") {
    const auto modeset =
        option_value(settings, command_line, "nouveau", "modeset", module.built_in);
    const bool no_modeset =
        std::find(command_line.begin(), command_line.end(), "nomodeset") != command_line.end();
    if (modeset == "0" || (no_modeset && (modeset.empty() || modeset == "-1"))) return Claim::none;
  }
  if (module.built_in) return Claim::everywhere;
  if (kept_from_loading(settings, module.name) ||
      lists_module(values_of(command_line, "modprobe.blacklist"), module.name) ||
      lists_module(values_of(command_line, "module_blacklist"), module.name)) {
    return Claim::none;
  }
  return lists_module(values_of(command_line, "rd.driver.blacklist"), module.name)
             ? Claim::outside_initrd
             : Claim::everywhere;
}

/// nvidiafb has the alias of every GPU, but drives only the oldest: it gives up others by itself.
/// Fact: drivers/video/fbdev/nvidia/nvidia.c, nvidia_get_arch.
bool is_rival(const std::string& module) {
  return !is_nvidias(module) && module != "nvidiafb";
}

/// What to say of a module of the kernel's own that competes with NVIDIA's.
std::optional<std::string> judge_rival(const ModuleSettings& settings, const DisplayModule& module,
                                       const BootKernel& kernel) {
  std::size_t claims = 0;
  bool only_outside_initrd = true;
  for (const auto& command_line : kernel.command_lines) {
    const auto claim = claim_of(settings, module, command_line);
    if (claim != Claim::none) ++claims;
    if (claim == Claim::everywhere) only_outside_initrd = false;
  }
  if (claims == 0) return std::nullopt;
  const std::string_view why = module.built_in ? "it's built into the kernel"
                               : only_outside_initrd
                                   ? "'rd.driver.blacklist' keeps only the initrd from loading it"
                                   : "nothing blacklists it";
  return fmt::format("'{}' would claim the GPUs{}: {}", module.name,
                     claims < kernel.command_lines.size() ? " with some of its entries" : "", why);
}

/// Whether a list such as 10de:2330,10de:22a3 has ids of NVIDIA's.
bool has_nvidia_ids(std::string_view list) {
  const auto ids = split(list, ',');
  return std::any_of(ids.begin(), ids.end(), [](std::string_view id) {
    const auto vendor = parse_number(id.substr(0, id.find(':')), 16);
    return vendor && *vendor == 0x10de;
  });
}

bool options_have_nvidia_ids(std::string_view options) {
  const auto all = words(options);
  return std::any_of(all.begin(), all.end(), [](std::string_view word) {
    return word.starts_with("ids=") && has_nvidia_ids(word.substr(4));
  });
}

std::string place_of(const System& system, const std::string& file, std::size_t line) {
  return fmt::format("{}:{}", system.shown(file), line);
}

/// Where vfio-pci gets ids of NVIDIA's, if it does.
std::optional<std::string> source_of_ids(const System& system, const ModuleSettings& settings,
                                         const BootKernel& kernel) {
  for (const auto& line : settings.modprobe) {
    if (line.command == "options" && line.name == "vfio_pci" &&
        options_have_nvidia_ids(line.rest)) {
      return place_of(system, line.file, line.line);
    }
  }
  for (const auto& load : settings.loads) {
    if (load.module == "vfio_pci" && options_have_nvidia_ids(load.options)) {
      return place_of(system, load.file, load.line);
    }
  }
  for (const auto& command_line : kernel.command_lines) {
    for (const auto& value : values_of(command_line, "vfio_pci.ids")) {
      if (has_nvidia_ids(value)) return "its command line";
    }
  }
  return std::nullopt;
}

std::optional<std::string> judge_vfio(const System& system, const ModuleSettings& settings,
                                      const BootKernel& kernel) {
  const auto ids = source_of_ids(system, settings, kernel);
  if (!ids || kept_from_loading(settings, "vfio_pci")) return std::nullopt;
  auto text = fmt::format("'vfio-pci' would claim GPUs: {} gives it NVIDIA's ids", *ids);
  for (const auto& load : settings.loads) {
    if (load.module != "vfio_pci") continue;
    return text + fmt::format(", {} loads it", place_of(system, load.file, load.line));
  }
  return text;
}

/// The modules that udev would load for a GPU. An alias of modprobe.d hides those of the index.
std::vector<DisplayModule> loaded_for_display(const ModuleSettings& settings,
                                              const KernelModules& modules) {
  std::vector<DisplayModule> named;
  for (const auto& line : settings.modprobe) {
    if (line.command != "alias" || !matches_glob(line.name, display_aliases[0])) continue;
    named.push_back({line.rest, false});
  }
  if (named.empty()) return modules.display;
  std::erase_if(named, [](const DisplayModule& module) { return module.name == "off"; });
  return named;
}

/// Traces of NVIDIA's driver that aren't modules: its sources, for DKMS, and CUDA's library.
bool has_driver_files(const System& system) {
  constexpr std::array<std::string_view, 7> libraries{
      "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
      "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1",
      "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
      "/usr/lib/aarch64-linux-gnu/nvidia/current/libcuda.so.1",
      "/usr/lib64/libcuda.so.1",
      "/usr/lib/libcuda.so.1",
      "/usr/local/lib/libcuda.so.1"};
  const bool library = std::any_of(libraries.begin(), libraries.end(), [&](std::string_view path) {
    return system.link_info(path).has_value();
  });
  if (library) return true;
  const auto sources = system.list("/usr/src");
  return sources && std::any_of(sources->begin(), sources->end(), [](const std::string& name) {
           return name.starts_with("nvidia-");
         });
}

/// Whether a kernel that isn't among these has NVIDIA's driver.
bool has_other_module(const System& system, const std::vector<BootKernel>& kernels) {
  const auto versions = system.list("/lib/modules");
  if (!versions) return false;
  return std::any_of(versions->begin(), versions->end(), [&](const std::string& version) {
    const bool known = std::any_of(kernels.begin(), kernels.end(), [&](const BootKernel& kernel) {
      return kernel.version == version;
    });
    if (known) return false;
    const auto modules = read_kernel_modules(system, version);
    return modules && modules->nvidia;
  });
}

}  // namespace

Result<KernelModules> read_kernel_modules(const System& system, const std::string& version) {
  if (version.empty() || version.starts_with('.') || version.find('/') != std::string::npos) {
    return fail(Errc::malformed, fmt::format("'{}': not a kernel's version", version));
  }
  const auto directory = system.resolve("/lib/modules/" + version);
  if (!directory) return fail(directory.error());
  const auto checked = check_indexes(system, *directory);
  if (!checked) return fail(checked.error());

  const auto kmod = open_kmod(system, *directory);
  if (!kmod) return fail(kmod.error());

  KernelModules modules;
  modules.version = version;
  for (const auto* alias : display_aliases) {
    const auto added = add_display_modules(*kmod, alias, modules.display);
    if (!added) return fail(added.error());
  }
  // What is built in has an index of aliases of its own, at which libkmod doesn't look once
  // another module has the alias.
  for (const auto* rival : {"nouveau", "nova_core"}) {
    std::vector<DisplayModule> named;
    const auto added = add_display_modules(*kmod, rival, named);
    if (!added) return fail(added.error());
    for (auto& module : named) {
      if (module.built_in && !contains(modules.display, module.name)) {
        modules.display.push_back(std::move(module));
      }
    }
  }
  const auto nvidia = has_module(*kmod, "nvidia");
  if (!nvidia) return fail(nvidia.error());
  modules.nvidia =
      *nvidia || std::any_of(modules.display.begin(), modules.display.end(),
                             [](const DisplayModule& m) { return is_nvidias(m.name); });
  const auto vfio_pci = has_module(*kmod, "vfio_pci");
  if (!vfio_pci) return fail(vfio_pci.error());
  modules.vfio_pci = *vfio_pci;
  return modules;
}

std::vector<std::string> judge_gpu_drivers(const System& system, const ModuleSettings& settings,
                                           const KernelModules& modules, const BootKernel& kernel) {
  std::vector<std::string> notes;
  for (const auto& module : loaded_for_display(settings, modules)) {
    if (!is_rival(module.name)) continue;
    if (const auto note = judge_rival(settings, module, kernel)) {
      notes.push_back(fmt::format("{}: {}", kernel.version, *note));
    }
  }
  if (const auto note = judge_vfio(system, settings, kernel); note && modules.vfio_pci) {
    notes.push_back(fmt::format("{}: {}", kernel.version, *note));
  }
  return notes;
}

std::vector<std::string> predict_gpu_drivers(const System& system,
                                             const std::vector<BootKernel>& kernels) {
  std::vector<std::string> notes;
  if (kernels.empty()) return notes;
  const auto settings = read_module_settings(system);
  for (const auto& error : settings.unread)
    notes.push_back(fmt::format("{}: not heeded", error.text()));

  std::vector<Result<KernelModules>> all;
  for (const auto& kernel : kernels)
    all.push_back(read_kernel_modules(system, kernel.version));
  const bool none = std::all_of(all.begin(), all.end(), [](const auto& modules) {
    return modules.has_value() && !modules->nvidia;
  });
  const bool no_driver = none && !has_driver_files(system) && !has_other_module(system, kernels);
  if (no_driver) {
    notes.emplace_back(
        "no NVIDIA driver is in this root: none of its kernels has an 'nvidia' module");
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto& modules = all[i];
    if (!modules) {
      notes.push_back(fmt::format("{}: {}: which drivers would get the GPUs isn't known",
                                  kernels[i].version, modules.error().text()));
      continue;
    }
    if (!modules->nvidia && !no_driver) {
      notes.push_back(fmt::format("{}: no 'nvidia' module is built for it", kernels[i].version));
    }
    for (auto& note : judge_gpu_drivers(system, settings, *modules, kernels[i]))
      notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace peerpath::probe
