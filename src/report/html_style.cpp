// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html_parts.hpp"

namespace peerpath::report {

// Each pair of --NAME and --NAME-ink is the ground and the text on it. A test takes their contrast.
// Paper is light, whatever the screen is.
std::string_view html_style() {
  return R"(
:root { color-scheme: light dark;
  --page: #ffffff; --page-ink: #1b1f24; --card: #f6f8fa; --card-ink: #1b1f24;
  --soft: #f6f8fa; --soft-ink: #57606a; --line: #d0d7de; --edge: #8c959f;
  --ok: #d7f5df; --ok-ink: #0f5323; --fail: #ffd9d4; --fail-ink: #8a1119;
  --warn: #fff0bd; --warn-ink: #5f4200; --unknown: #eadcff; --unknown-ink: #512a97;
  --na: #eaeef2; --na-ink: #454c54; --alarm: #cf222e;
  --h0: #f3f8fd; --h0-ink: #1b1f24; --h1: #dcebf9; --h1-ink: #1b1f24;
  --h2: #bcd9f2; --h2-ink: #1b1f24; --h3: #92c0e8; --h3-ink: #10161d;
  --h4: #66a5db; --h4-ink: #0b1520; --h5: #2a6db0; --h5-ink: #ffffff;
  --h6: #12478a; --h6-ink: #ffffff; }
@media screen and (prefers-color-scheme: dark) { :root {
  --page: #0d1117; --page-ink: #e6edf3; --card: #161b22; --card-ink: #e6edf3;
  --soft: #161b22; --soft-ink: #9aa4af; --line: #30363d; --edge: #6e7681;
  --ok: #12361f; --ok-ink: #7ee2a0; --fail: #5a1419; --fail-ink: #ffc9c4;
  --warn: #493300; --warn-ink: #f5d77a; --unknown: #3b2264; --unknown-ink: #dcc6ff;
  --na: #21262d; --na-ink: #b1bac4; --alarm: #ff6a60;
  --h0: #111d2b; --h0-ink: #dbe7f3; --h1: #152d47; --h1-ink: #dbe7f3;
  --h2: #1a3f66; --h2-ink: #e6edf3; --h3: #205387; --h3-ink: #f3f8fd;
  --h4: #2c67a3; --h4-ink: #ffffff; --h5: #6fb0ea; --h5-ink: #08131f;
  --h6: #b5d8f8; --h6-ink: #08131f; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; overflow-wrap: anywhere; background: var(--page); color: var(--page-ink);
  font: 15px/1.5 system-ui, "Segoe UI", Cantarell, "Noto Sans", "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 1240px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 28px; }
footer { padding-top: 12px; padding-bottom: 32px; color: var(--soft-ink); font-size: 13px; }
h1 { font-size: 24px; margin: 0 0 12px; line-height: 1.25; }
h2 { font-size: 19px; margin: 36px 0 12px; padding-bottom: 6px; border-bottom: 1px solid var(--line); }
h3 { font-size: 15.5px; margin: 24px 0 8px; }
p { margin: 8px 0; }
code, .mono { font-family: ui-monospace, "Cascadia Mono", Consolas, "DejaVu Sans Mono", monospace;
  font-size: 0.92em; }
.soft { color: var(--soft-ink); }
.badge { display: inline-block; padding: 1px 9px; border-radius: 11px; font-weight: 600;
  font-size: 13px; line-height: 20px; }
.ok { background: var(--ok); color: var(--ok-ink); }
.fail { background: var(--fail); color: var(--fail-ink); }
.warn { background: var(--warn); color: var(--warn-ink); }
.unknown { background: var(--unknown); color: var(--unknown-ink); }
.na { background: var(--na); color: var(--na-ink); }
.verdict { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline;
  padding: 14px 18px; border-radius: 10px; margin: 0; }
.verdict strong { font-size: 22px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 12px;
  margin: 12px 0; padding: 0; list-style: none; }
.tiles li, .card { background: var(--card); color: var(--card-ink); border: 1px solid var(--line);
  border-radius: 10px; }
.tiles li { padding: 10px 14px; }
.tiles span.soft { display: block; font-size: 13px; }
.tiles .badge { margin-top: 3px; border-radius: 8px; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 16px; margin: 14px 0; }
dt { color: var(--soft-ink); } dd { margin: 0; }
.card { padding: 14px 18px; margin: 12px 0; border-left-width: 5px; }
.card.is-fail { border-left-color: var(--alarm); }
.card.is-warn { border-left-color: var(--warn-ink); }
.card.is-unknown { border-left-color: var(--unknown-ink); }
.card h3 { margin: 0 0 6px; display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: baseline; }
.card h3 code { font-weight: 400; color: var(--soft-ink); }
.card dl { margin: 10px 0 0; }
.remedy { font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13.5px; }
table.list { width: 100%; min-width: 560px; margin: 6px 0; }
.list th, .list td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0;
  border-bottom: 1px solid var(--line); min-width: 4.5em; }
.list tbody th { font-weight: 600; min-width: 9.5em; }
.list thead th { color: var(--soft-ink); font-weight: 400; white-space: nowrap; }
caption { text-align: left; font-weight: 600; padding: 14px 0 6px; font-size: 15px; }
.matrices { display: flex; flex-wrap: wrap; gap: 0 44px; } .matrices > div { max-width: 100%; }
.matrix { margin: 4px 0 6px; border-collapse: separate; border-spacing: 2px; }
.matrix th { font-weight: 400; color: var(--soft-ink); padding: 2px 6px; overflow-wrap: normal;
  white-space: nowrap; }
.matrix tbody th { text-align: right; }
.matrix td { text-align: center; padding: 5px 6px; min-width: 62px; border-radius: 4px;
  overflow-wrap: normal; white-space: nowrap; line-height: 1.25; font-variant-numeric: tabular-nums; }
.matrix td small { display: block; font-size: 11px; }
.matrix.wide td { min-width: 44px; padding: 4px 3px; font-size: 12.5px; }
.matrix td.none { color: var(--soft-ink); } .matrix caption { white-space: nowrap; }
.matrix th strong { display: inline-block; min-width: 1.4em; color: var(--page-ink); }
.h0 { background: var(--h0); color: var(--h0-ink); } .h1 { background: var(--h1); color: var(--h1-ink); }
.h2 { background: var(--h2); color: var(--h2-ink); } .h3 { background: var(--h3); color: var(--h3-ink); }
.h4 { background: var(--h4); color: var(--h4-ink); } .h5 { background: var(--h5); color: var(--h5-ink); }
.h6 { background: var(--h6); color: var(--h6-ink); }
.scale { display: flex; flex-wrap: wrap; gap: 2px; align-items: center; margin: 0; font-size: 12.5px;
  color: var(--soft-ink); }
.scale span { margin: 0 4px; } .scale i { display: inline-block; width: 22px; height: 12px; border-radius: 2px; }
details { margin: 10px 0; } summary { cursor: pointer; }
details > div { margin: 4px 0 14px 18px; }
svg { display: block; font: 12px system-ui, "Segoe UI", Cantarell, "Noto Sans", "DejaVu Sans", sans-serif; }
svg rect.box { fill: var(--card); stroke: var(--line); }
svg rect.device { stroke-width: 1.5; stroke: var(--edge); }
svg rect.redirects { stroke: var(--alarm); stroke-width: 2; }
svg path { fill: none; stroke: var(--edge); stroke-width: 1.5; }
svg path.redirects { stroke: var(--alarm); stroke-width: 3; stroke-dasharray: 7 3; }
svg polygon { fill: var(--alarm); }
svg text { fill: var(--card-ink); } svg text.soft { fill: var(--soft-ink); }
svg text.bdf { font: 600 12px ui-monospace, "Cascadia Mono", Consolas, "DejaVu Sans Mono", monospace; }
svg text.end { text-anchor: end; }
svg rect.ok { fill: var(--ok); } svg text.ok { fill: var(--ok-ink); }
svg rect.fail { fill: var(--fail); } svg text.fail { fill: var(--fail-ink); }
svg rect.unknown { fill: var(--unknown); } svg text.unknown { fill: var(--unknown-ink); }
svg text.ok, svg text.fail, svg text.unknown { font-weight: 600; }
@media (max-width: 640px) { main, header, footer { padding-left: 14px; padding-right: 14px; }
  dl { grid-template-columns: minmax(0, 1fr); } dd { margin-bottom: 6px; } }
@page { margin: 12mm; }
@media print { :root { color-scheme: light; } body { font-size: 9.5pt; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  main, header, footer { max-width: none; padding: 0; }
  .scroll { overflow: visible; } .card h3, .card dl, tr, .tiles li, .matrices > div, svg {
    break-inside: avoid; }
  table.list { min-width: 0; } .list tbody th { min-width: 8.5em; }
  h2, h3, caption { break-after: avoid; } table { font-size: 8.5pt; }
  svg { width: 100%; height: auto; max-height: 240mm; }
  .matrix td { min-width: 0; padding: 3px 4px; } .matrix.wide td { padding: 2px 1px; font-size: 6.5pt; }
  .matrix td small { font-size: 6.5pt; } .matrix.wide td small { font-size: 5.5pt; } }
)";
}

}  // namespace peerpath::report
