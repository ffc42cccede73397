// Opens pages in one browser, wide and narrow, light and dark, and says what it saw, as JSON on standard output.
//   node look.mjs '{"browser": "/usr/bin/chromium", "pages": ["a.html"], "shots": "folder or null"}'
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const asked = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf-8");
const browser = await chromium.launch({ executablePath: asked.browser, args: ["--no-sandbox"] });
const seen = [];

for (const file of asked.pages) {
  const address = pathToFileURL(resolve(file)).href;
  const page = await browser.newPage();
  const told = { page: basename(file), requests: [], errors: [], views: [], answers: {} };
  page.on("request", (request) => { if (request.url() !== address) told.requests.push(request.url()); });
  page.on("console", (message) => { if (message.type() === "error") told.errors.push(message.text()); });
  page.on("pageerror", (error) => told.errors.push(String(error)));
  await page.goto(address);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.waitForTimeout(200); // colours fade
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      // The page is the same wide and narrow, and each scheme is looked at once: half the time.
      const looked = (width === 1280) === (colorScheme === "light");
      if (looked) await page.evaluate(axe);
      const found = looked ? await page.evaluate(() => axe.run({ resultTypes: ["violations"] })) : { violations: [] };
      const grave = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
      const said = (one) => `${one.id}: ${one.help} (${one.nodes.length}, as ${one.nodes[0].html.slice(0, 160)}; ${one.nodes[0].any.map((any) => any.message).join(" ").slice(0, 200)})`;
      told.views.push({ width, colorScheme, overflow, looked, findings: grave.map(said) });
      if (asked.shots) {
        const name = `${basename(file, ".html")}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: join(asked.shots, name), fullPage: true });
      }
    }
  }
  // With the keyboard alone: a mark is read out, and its kind shown alone; a table is sorted.
  await page.setViewportSize({ width: 1280, height: 900 });
  told.answers = await page.evaluate(() => {
    const press = (where, key) => where.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const picture = document.querySelector("figure .wide[tabindex]");
    if (picture) {
      picture.focus();
      press(picture, "ArrowRight");
    }
    const read = document.getElementById("tip").textContent;
    if (picture) press(picture, "Enter");
    const dimmed = document.querySelectorAll("figure .dim").length;
    if (picture) press(picture, "Escape");
    const head = document.querySelector("th[data-sort] button");
    if (head) head.click();
    const column = head ? head.parentNode.cellIndex : 0;
    const body = head ? head.closest("table").tBodies[0] : null;
    const values = body ? Array.from(body.rows, (row) => row.cells[column].dataset.value).filter((one) => one !== undefined).map(Number) : [];
    return { read, dimmed, left: document.querySelectorAll("figure .dim").length, sorted: values.every((one, at) => !at || values[at - 1] <= one), copies: document.querySelectorAll("button.copy").length };
  });
  seen.push(told);
  await page.close();
}
await browser.close();
process.stdout.write(JSON.stringify(seen));
