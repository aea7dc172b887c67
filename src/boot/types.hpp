// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "cmdline/judge.hpp"
#include "sys/system.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <variant>
#include <vector>

namespace peerpath::boot {

/// One bootable Linux entry in the file that the boot loader itself will read.
struct Entry {
  std::string title;    ///< with the submenus that it's in: "Advanced options > Debian, 6.1.0-35"
  std::string kernel;   ///< the image's path as written
  std::string version;  ///< from the image's name; empty where it has none
  /// The command lines that the kernel may get. Several where a boot loader's variable has several
  /// values in the same file; none where a variable's value can't be known before the boot.
  std::vector<std::string> command_lines;
  std::string file;  ///< where it was read, as seen from inside the root
  /// Of what gives the command line, counted from 1; 0 where the file is no text.
  std::size_t line = 0;
  bool generated = false;       ///< written by the boot loader's own generator from its settings
  bool kernel_present = false;  ///< the image is in this root: the entry boots this system
  bool has_initrd = false;

  /// "FILE:LINE", or "FILE" where it's no text.
  [[nodiscard]] std::string place() const {
    return line == 0 ? file : file + ":" + std::to_string(line);
  }
};

/// An entry with the mode that its kernel will boot in.
struct JudgedEntry {
  Entry entry;
  std::optional<cmdline::Mode> mode;  ///< nothing where the possible command lines differ
  cmdline::Judgement judgement;       ///< of the first of them

  [[nodiscard]] bool untranslated() const { return mode && cmdline::is_untranslated(*mode); }
};

/// What a boot loader's final files hold.
struct Inspection {
  std::vector<Entry> entries;
  std::vector<std::string> notes;      ///< entries left out and why: other systems, memory tests
  std::optional<std::string> missing;  ///< the artefact that isn't there (yet)
  /// Places that may boot something which isn't among the entries: nothing is proven with them.
  std::vector<std::string> unfollowed;
  std::size_t chain_loaded = 0;  ///< entries that start another boot loader
  bool has_password = false;     ///< the menu is protected
};

/// A word of the administrator's that contradicts passthrough.
struct Conflict {
  std::string word;
  std::string file;      ///< empty where the word comes out of a computation
  std::size_t line = 0;  ///< 0 where unknown
};

class BootLoader;

// What a plan is made of. Paths are as seen from inside the root.

/// A file that's all ours.
struct WriteFile {
  std::string path;
  std::string content;
  mode_t mode = 0644;
};
/// Somebody else's file, in which bytes of ours are put in or taken out.
struct EditFile {
  std::string path;
  std::size_t offset = 0;
  std::string removed;  ///< the bytes there now; nothing is done if they're others
  std::string inserted;
  bool keep_mtime = false;            ///< something compares the file's age with that of others
  std::optional<FileText> read = {};  ///< the file that the plan was made for, where it's at hand
};
struct RemoveFile {
  std::string path;
};
/// Runs the boot loader's generator into a new file beside the old one. The new one is audited,
/// and only then put into the place of the old one.
struct Regenerate {
  std::string path;                    ///< the artefact, symbolic links resolved
  std::vector<std::string> command;    ///< the new file's path is appended
  const BootLoader* loader = nullptr;  ///< whose `inspect_artefact` judges it; outlives the plan
};
/// Runs the boot loader's own tool, which brings the settings into the artefacts.
struct RunTool {
  std::string artefacts;  ///< what it writes, for people
  std::vector<std::string> command;
  std::string remembered_as = {};  ///< the ledger's name for it; empty: it isn't remembered
};
/// Has a program make a small addon for unified kernel images, into a new file beside the old one.
/// It's put in place only if its command line is the expected one and there's no kernel in it.
struct Produce {
  std::string path;                  ///< the addon, symbolic links resolved
  std::vector<std::string> command;  ///< the new file's path is appended
  std::string expect_cmdline;
  bool expect_signed = false;
};
using Step = std::variant<WriteFile, EditFile, RemoveFile, Regenerate, RunTool, Produce>;

/// Something that can't be done here and now.
struct Deferred {
  std::string what;   ///< "GRUB's configuration isn't generated now"
  std::string why;    ///< "there's no '/boot/grub/grub.cfg' yet"
  std::string until;  ///< "the next 'update-grub' brings the word"

  [[nodiscard]] std::string text() const { return what + ": " + why + "; " + until; }
};

struct Plan {
  std::vector<Step> steps;
  std::optional<Conflict> conflict;  ///< then there are no steps
  std::vector<Deferred> deferred;
  /// Others' files that hold our word already: it's theirs, and stays after us.
  std::vector<std::string> theirs;
};

/// What `ensure` was asked for.
struct Request {
  cmdline::Arch arch = cmdline::Arch::x86_64;
  bool force = false;
  /// Unified kernel images that were built elsewhere get an addon.
  bool uki_addon = false;
  /// Files that sign it, paths inside the root; both or neither.
  std::string secure_boot_key = {};
  std::string secure_boot_certificate = {};
};

/// One kind of boot loader, with the way to add our word to the command line of every installed
/// and every future kernel.
class BootLoader {
 public:
  BootLoader() = default;
  virtual ~BootLoader() = default;
  BootLoader(const BootLoader&) = delete;
  BootLoader& operator=(const BootLoader&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Whether this boot loader boots the system in the root, from files under the root alone.
  [[nodiscard]] virtual bool detect(const System& system) const = 0;

  /// Whether it rules out the boot loaders after it in the list. The others may be on one system
  /// together, and which of them starts is the firmware's choice: all of them are set up.
  [[nodiscard]] virtual bool rules_alone() const { return false; }

  /// Whether it takes its entries from EFI system partitions, each of which may hold some.
  [[nodiscard]] virtual bool reads_esp(const System& /*system*/) const { return false; }

  /// Reads the entries of the final files. Errors: those of reading, malformed with the line.
  [[nodiscard]] virtual Result<Inspection> inspect(const System& system) const = 0;

  /// The same of one artefact's new content, before it replaces the old one.
  /// Only those that have a `Regenerate` step need it.
  [[nodiscard]] virtual Result<Inspection> inspect_artefact(const System& system,
                                                            const std::string& path,
                                                            const std::string& content) const;

  /// What makes every entry boot in passthrough. Nothing is changed by asking; after the plan was
  /// carried out, the next one is empty. Errors: malformed settings, unsupported with the reason.
  [[nodiscard]] virtual Result<Plan> plan(const System& system, const Request& request) const = 0;

  /// What takes away exactly what `plan` added. Works without a ledger, by the marks in our files.
  [[nodiscard]] virtual Result<Plan> plan_revert(const System& system) const = 0;
};

}  // namespace peerpath::boot
