// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "check/next_boot.hpp"
#include "cli/boot_report_file.hpp"
#include "cli/commands.hpp"
#include "cli/gather.hpp"
#include "cli/status_format.hpp"
#include "report/html.hpp"
#include "report/verify_report.hpp"

#include <fmt/format.h>

#include <ctime>

namespace peerpath::cli {
namespace {

/// As it is now, since `ensure` may have run after the report was made. No device is looked at.
bool is_armed(const System& system) {
  const auto facts = gather_facts(system, {});
  const auto boots = facts ? check::compare_boots(*facts) : std::nullopt;
  return boots && boots->armed();
}

constexpr std::string_view armed =
    "armed, not booted: passthrough is configured, and comes into force with a reboot";

Answer no_report(const System& system, std::string_view why) {
  const auto what = fmt::format("'{}' {}", report_path, why);
  return {"", ExitStatus::unknown,
          Error{Errc::not_found, is_armed(system) ? fmt::format("{}; {}", what, armed) : what}};
}

/// A report whose verdict isn't that of its findings isn't believed.
Result<> check_report(const report::VerifyReport& report, std::string_view path) {
  const auto verdict = check::verdict(report.findings);
  if (report.verdict != verdict ||
      report.exit_status != static_cast<int>(exit_status_of(verdict))) {
    return fail(
        Errc::malformed,
        fmt::format("'{}' has another verdict than its findings: run 'peerpath boot-check'", path));
  }
  return {};
}

void add_options(po::options_description& options) {
  options.add_options()("html", po::value<std::string>()->value_name("FILE"),
                        "write the report as a page for a browser, too; '-': to standard output");
  options.add_options()("report", po::value<std::string>()->value_name("FILE"),
                        "show this report, of whatever boot or machine");
  options.add_options()("format", po::value<std::string>()->value_name("NAME"),
                        "print it for another program: npd, nfd or prometheus");
  add_verbose_option(options);
  add_json_option(options);
}

/// A report and what it was read from.
struct Read {
  std::string json;
  report::VerifyReport report;
};

Result<Read> read_report(const System& system, const std::string& path) {
  auto json = system.read(path);
  if (!json) return fail(json.error());
  auto report = report::parse_report(*json, path);
  if (!report) return fail(report.error());
  return Read{std::move(*json), std::move(*report)};
}

/// Whether the page goes where the text goes otherwise.
bool is_page_alone(const Invocation& invocation) {
  return invocation.flag("html") && invocation.options["html"].as<std::string>() == "-";
}

/// A device or a pipe would be replaced by a file of that name, too.
Result<> write_page(const System& system, const std::string& path, const std::string& page) {
  const auto there = system.info(path);
  if (there && there->kind != FileKind::regular) {
    return fail(Errc::invalid,
                fmt::format("'{}': not a file; '-' is the standard output", system.shown(path)));
  }
  return system.write(path, page);
}

/// Text or JSON, and the page where one is asked for; text and page say first whether it's armed.
Result<Answer> show(const Invocation& invocation, const System& system, Read read,
                    bool says_armed) {
  auto& report = read.report;
  const auto status = static_cast<ExitStatus>(report.exit_status);
  auto text = (says_armed ? fmt::format("{}\n", armed) : "") +
              report::to_text(report, text_style(invocation));
  if (says_armed) report.note = fmt::format("{}. {}", armed, report.note);
  if (is_page_alone(invocation)) return Answer{report::to_html(report), status};
  if (invocation.flag("html")) {
    const auto written = write_page(system, invocation.file("html"), report::to_html(report));
    if (!written) return fail(written.error());
  }
  return Answer{invocation.flag("json") ? std::move(read.json) : std::move(text), status};
}

/// Errors: not_found where there's no report of this boot.
Result<report::VerifyReport> report_of_this_boot() {
  const auto system = System::open("/");
  if (!system) return fail(system.error());
  auto read = read_report(**system, std::string(report_path));
  if (!read) return fail(read.error());
  const auto boot_id = (*system)->read("/proc/sys/kernel/random/boot_id");
  if (!boot_id) return fail(boot_id.error());
  if (read->report.boot_id != std::string(trim(*boot_id))) {
    return fail(Errc::not_found, fmt::format("'{}' isn't from this boot", report_path));
  }
  if (const auto good = check_report(read->report, report_path); !good) return fail(good.error());
  return std::move(read->report);
}

Result<Answer> run_formatted(const Invocation& invocation) {
  const auto format = invocation.options["format"].as<std::string>();
  if (!is_status_format(format)) {
    return fail(Errc::usage,
                fmt::format("'{}': status --format takes {}", printable(format), status_formats));
  }
  for (const auto* other : {"json", "html", "report"}) {
    if (invocation.flag(other)) {
      return fail(Errc::usage, fmt::format("status: --format and --{} exclude each other", other));
    }
  }
  const auto report = report_of_this_boot();
  const auto without = report || report.error().code == Errc::not_found
                           ? ExitStatus::unknown
                           : exit_status_of(report.error().code);
  return formatted(format, report, without, std::time(nullptr));
}

Result<Answer> run(const Invocation& invocation) {
  if (invocation.flag("format")) return run_formatted(invocation);
  if (is_page_alone(invocation) && invocation.flag("json")) {
    return fail(Errc::usage, "status: --json and --html - both take the standard output");
  }
  const auto system = System::open("/");
  if (!system) return fail(system.error());
  const bool is_ours = !invocation.flag("report");
  const auto path = is_ours ? std::string(report_path) : invocation.file("report");
  auto read = read_report(**system, path);
  if (!read && is_ours && read.error().code == Errc::not_found) {
    return no_report(**system, "isn't there: 'peerpath boot-check' hasn't run since the boot");
  }
  if (!read) return fail(read.error());
  if (is_ours) {
    const auto boot_id = (*system)->read("/proc/sys/kernel/random/boot_id");
    if (!boot_id) return fail(boot_id.error());
    if (read->report.boot_id != std::string(trim(*boot_id))) {
      return no_report(**system, "isn't from this boot: run 'peerpath boot-check'");
    }
  }
  if (const auto good = check_report(read->report, path); !good) return fail(good.error());
  return show(invocation, **system, std::move(*read), is_ours && is_armed(**system));
}

}  // namespace

const Command cmd_status{
    .name = "status",
    .arguments = "",
    .summary = "show the report of this boot's check",
    .details =
        "Prints what 'boot-check' found after this boot, and ends with its exit status; with 4 "
        "where there is no report of this boot. With --html, writes it as a single file for a "
        "browser, too, which replaces FILE.",
    .add_options = add_options,
    .run = run,
};

}  // namespace peerpath::cli
