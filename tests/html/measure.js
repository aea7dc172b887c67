// SPDX-License-Identifier: GPL-2.0-or-later
// In a page that holds the tried pages in frames: looks into each, and writes a line for each flaw
// and for each page that was looked at.
"use strict";

const lines = [];

function luminance(colour) {
  const channel = (value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(colour[0]) + 0.7152 * channel(colour[1]) + 0.0722 * channel(colour[2]);
}

// "rgb(1, 2, 3)" or "rgba(1, 2, 3, 0)"; nothing for one that is seen through.
function opaque(text) {
  const parts = text.match(/[\d.]+/g).map(Number);
  return parts.length > 3 && parts[3] < 1 ? null : parts;
}

function groundOf(view, element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = opaque(view.getComputedStyle(at).backgroundColor);
    if (colour) return colour;
  }
  return null;
}

function hasText(element) {
  return [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
}

// The lowest contrast of a text with what it stands on (WCAG 2.2), and that text.
function lowestContrast(view) {
  let lowest = [99, ""];
  for (const element of view.document.body.querySelectorAll("*")) {
    if (element.closest("svg") || !hasText(element)) continue;
    const ground = groundOf(view, element);
    const ink = opaque(view.getComputedStyle(element).color);
    if (!ground || !ink) return [0, "no colour: " + element.textContent];
    const [low, high] = [luminance(ground), luminance(ink)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, element.textContent.slice(0, 40)];
  }
  return lowest;
}

// Texts of the drawing that are wider than their box.
function cutTexts(view) {
  return [...view.document.querySelectorAll("svg svg text")].filter((text) => {
    const box = text.getBBox();
    return box.x < 0 || box.x + box.width > text.ownerSVGElement.width.baseVal.value;
  });
}

// Whether one number column's texts spill over into the next cell.
function spilledCells(view) {
  return [...view.document.querySelectorAll(".matrix td")].filter(
    (cell) => cell.scrollWidth > cell.clientWidth + 1);
}

function look(frame) {
  const view = frame.contentWindow;
  const name = frame.dataset.name;
  const root = view.document.documentElement;
  const flaw = (what) => lines.push(`flaw ${name} at ${frame.width}: ${what}`);
  if (root.scrollWidth > root.clientWidth) {
    flaw(`wider than the window: ${root.scrollWidth} of ${root.clientWidth}`);
  }
  const loaded = view.performance.getEntriesByType("resource");
  if (loaded.length > 0) flaw(`loads ${loaded.map((entry) => entry.name).join(" ")}`);
  if (view.document.scripts.length > 0) flaw("has scripts");
  const foreign = view.document.querySelectorAll(
    "img, link, iframe, object, embed, form, [onerror], [onload], [style]");
  if (foreign.length > 0) flaw(`has ${foreign[0].outerHTML}`);
  const [ratio, text] = lowestContrast(view);
  if (!(ratio >= 4.5)) flaw(`contrast ${ratio.toFixed(2)} of '${text}'`);
  const cut = cutTexts(view);
  if (cut.length > 0 && name !== "hostile") flaw(`cut off: '${cut[0].textContent}'`);
  if (spilledCells(view).length > 0) flaw("a matrix' cell is too narrow");
  const ground = luminance(opaque(view.getComputedStyle(view.document.body).backgroundColor));
  const count = (what) => view.document.querySelectorAll(what).length;
  lines.push(`page ${name} at ${frame.width}: ${ground < 0.1 ? "dark" : ground > 0.9 ? "light" : "?"}` +
    ` headings=${count("h1")} sections=${count("main > section")} devices=${count("rect.device")}` +
    ` redirects=${count("rect.redirects")} matrices=${count("table.matrix")}` +
    ` cells=${count("table.verdicts td[title]")} cards=${count("section.card")}` +
    ` contrast=${ratio.toFixed(1)}`);
}

window.addEventListener("load", () => {
  for (const frame of document.querySelectorAll("iframe")) {
    try {
      look(frame);
    } catch (error) {
      lines.push(`flaw ${frame.dataset.name}: ${error}`);
    }
  }
  document.body.replaceChildren();
  const said = document.createElement("pre");
  said.textContent = `\n${lines.join("\n")}\nlooked at ${lines.length} lines\n`;
  document.body.append(said);
});
