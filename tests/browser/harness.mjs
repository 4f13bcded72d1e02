// SPDX-License-Identifier: Apache-2.0
// What the tests of the page share: TAP, a browser, and pages that tell of every error.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export { assert };

// Long: machines that run tests are busy.
const PATIENCE_MS = 20000;

let count = 0,
    failed = 0;

export async function test(sentence, act) {
    const start = Date.now();
    count++;
    try {
        await act();
        console.log(`ok ${count} - ${sentence}`);
    } catch (error) {
        failed++;
        console.log(`not ok ${count} - ${sentence}`);
        const told = [error.stack ?? error, error.cause?.stack].filter(Boolean).join('\n');
        console.log(told.replace(/^/gm, '# '));
    }
    if (process.env.WEIR_TEST_TIMES) console.log(`# ${Date.now() - start} ms`);
}

export function finish() {
    console.log(`1..${count}`);
    process.exit(failed === 0 ? 0 : 1);
}

// Names of servers that lead to this machine, whatever the network says: `hosts`.
export async function launch({ hosts = [] } = {}) {
    const { chromium } = await import('playwright-core');
    const rules = hosts.map((host) => `MAP ${host} 127.0.0.1`).join(', ');
    return chromium.launch({
        executablePath: process.env.WEIR_CHROMIUM ?? '/usr/bin/chromium',
        // Tests run as root in containers, too; /dev/shm is small there.
        args: [
            '--no-sandbox',
            '--disable-dev-shm-usage',
            '--disable-gpu',
            ...(rules === '' ? [] : [`--host-resolver-rules=${rules}`]),
        ],
    });
}

// A page in a context of its own. `page.troubles` has what it complained of: errors of scripts,
// lines of the console, requests to elsewhere, what its policy forbade; `page.asked` the addresses
// of its requests. With `shut` it is not waited for figures.
export async function openPage(browser, url, { shut = false, ...options } = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        colorScheme: 'dark',
        reducedMotion: 'reduce', // what moves costs the tests a core
        ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    page.troubles = [];
    page.asked = [];
    page.on('pageerror', (error) => page.troubles.push(`error: ${error.stack}`));
    page.on('console', (line) => {
        if (['error', 'warning'].includes(line.type()))
            page.troubles.push(`console: ${line.text()}`);
    });
    page.on('request', (request) => {
        page.asked.push(request.url());
        const host = new URL(request.url()).host;
        if (host !== new URL(url).host) page.troubles.push(`request to ${request.url()}`);
    });
    await page.goto(url);
    if (!shut) await page.locator('#loading').waitFor({ state: 'hidden' });
    return page;
}

export const closePage = (page) => page.context().close();

export async function until(condition, what, milliseconds = PATIENCE_MS) {
    const end = Date.now() + milliseconds;
    for (;;) {
        if (await condition()) return;
        if (Date.now() > end) throw new Error(`did not come true in time: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

// The text of the cell in the row of that name and the column of that heading.
export async function cell(page, table, row, column) {
    return page.evaluate(
        ([id, name, heading]) => {
            const place = document.getElementById(`${id}-table`);
            const index = [...place.querySelectorAll('thead th')].findIndex(
                (th) => th.textContent === heading,
            );
            const line = [...place.querySelectorAll('tbody tr')].find(
                (tr) => tr.firstElementChild.textContent === name,
            );
            return line?.children[index]?.textContent ?? null;
        },
        [table, row, column],
    );
}

const NUMBER = { k: 1e3, M: 1e6, G: 1e9 };

// "12.5 k/s" as 12500.
export function numberOf(text) {
    const match = /^(-?[\d.\u202f]+)\s*([kMG]?)/.exec(text ?? '');
    return match ? Number(match[1].replaceAll('\u202f', '')) * (NUMBER[match[2]] ?? 1) : NaN;
}

// What axe-core finds that is serious or worse, a line each.
export async function barriers(page) {
    const require = createRequire(import.meta.url);
    // By the debugger, not as a script element: the page's policy would refuse that, and should.
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
    const found = await page.evaluate(() =>
        window.axe.run(document, {
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        }),
    );
    return found.violations
        .filter((one) => ['serious', 'critical'].includes(one.impact))
        .flatMap((one) =>
            one.nodes.map(
                (node) =>
                    `${one.id}: ${node.html.slice(0, 120)}: ` +
                    node.failureSummary.replaceAll('\n', ' '),
            ),
        );
}
