// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/kmod_library.hpp"

#include "base/shared_library.hpp"

#include <array>

namespace peerpath::probe {
namespace {

constexpr auto note_text =
    std::to_array(R"([{"feature":"kmod","description":"Tells which drivers would get the GPUs",)"
                  R"("priority":"required","soname":["libkmod.so.2"]}])");
[[gnu::used,
  gnu::section(".note.dlopen")]] alignas(4) constexpr DlopenNote<note_text.size()> dlopen_note{
    .text = note_text};

}  // namespace

Result<KmodLibrary> load_kmod(const std::string& soname) {
  auto library = SharedLibrary::load(soname);
  if (!library) return fail(library.error());
  KmodLibrary kmod;
  library->find("kmod_new", kmod.create);
  library->find("kmod_unref", kmod.unref);
  library->find("kmod_set_log_fn", kmod.set_log_fn);
  library->find("kmod_list_next", kmod.list_next);
  library->find("kmod_module_new_from_lookup", kmod.module_new_from_lookup);
  library->find("kmod_module_get_module", kmod.module_get_module);
  library->find("kmod_module_get_name", kmod.module_get_name);
  library->find("kmod_module_get_path", kmod.module_get_path);
  library->find("kmod_module_unref", kmod.module_unref);
  library->find("kmod_module_unref_list", kmod.module_unref_list);
  if (const auto whole = library->has_all(); !whole) return fail(whole.error());
  return kmod;
}

}  // namespace peerpath::probe
