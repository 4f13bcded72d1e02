// SPDX-License-Identifier: Apache-2.0
// The live page over `weir run` with the quickstart (tests/contract/page.py writes page.conf): what
// it shows is what the server says, and its buttons do what they say.
import {
    assert,
    barriers,
    closePage,
    finish,
    launch,
    numberOf,
    openPage,
    test,
    until,
} from './harness.mjs';
import { figures, processorOf, ready, startServer, stopServer } from './real_server.mjs';

const { WEIR_URL: URL_, WEIR_TOKEN: TOKEN } = process.env;
const SECONDS = 1000;

const text = (page, selector) => page.locator(selector).first().textContent();
const said = (page) => text(page, '#panel-said');

async function openProcessor(page, name) {
    const row = page.locator('#processors-table .name').getByText(name, { exact: true });
    await row.evaluate((button) => button.click());
    await until(async () => (await text(page, '#panel-title')) === name, `the panel of ${name}`);
}

const figure = (page, name) =>
    page
        .locator('#panel-figures div', {
            has: page.locator('dt').getByText(name, { exact: true }),
        })
        .locator('dd')
        .textContent();

async function giveToken(page, token) {
    await page.locator('#token-dialog[open]').waitFor();
    await page.fill('#token-input', token);
    await page.keyboard.press('Enter');
}

let server = startServer();
await ready();

// What goes wrong is told with what the page said of it.
const testOf = (sentence, act) =>
    test(sentence, async () => {
        try {
            await act();
        } catch (error) {
            throw new Error(`the page said "${await said(page)}"`, { cause: error });
        }
    });

const browser = await launch();
const page = await openPage(browser, URL_);

await test('over a real server: totals lie between two looks at /metrics.json', async () => {
    await openProcessor(page, 'totals');
    for (let i = 0; i < 5; i++) {
        const before = processorOf(await figures(), 'totals').handled;
        const shown = await text(page, '#engine-uptime').then(() => figure(page, 'handled'));
        const after = processorOf(await figures(), 'totals').handled;
        // A frame may be a quarter of a second old.
        assert.ok(numberOf(shown) <= after, `${shown} <= ${after}`);
        assert.ok(numberOf(shown) >= before - 0.5 * 25000, `${shown} >= ${before} - half a second`);
    }
});

await test('over a real server: rates are those of /metrics.json', async () => {
    const first = await figures();
    await until(async () => numberOf(await text(page, '#tiles .figure')) > 0, 'a rate');
    await until(async () => {
        const now = await figures();
        const seconds = (now.engine.uptime_ns - first.engine.uptime_ns) / 1e9;
        if (seconds < 1.5) return false;
        const real = (now.engine.handled - first.engine.handled) / seconds;
        return Math.abs(numberOf(await text(page, '#tiles .figure')) / real - 1) < 0.25;
    }, 'events a second within 25 % of what two looks give');
});

await test('over a real server: health and the tables are there', async () => {
    const document = await figures();
    assert.equal(await text(page, '#health-status'), document.health.status);
    assert.equal(await text(page, '#engine-name'), document.engine.name);
    for (const section of ['dispatchers', 'threads', 'feeds', 'routers']) {
        const rows = await page.locator(`#${section}-table tbody tr`).count();
        assert.equal(rows, document[section].length, section);
    }
});

await test('over a real server: the topology goes from the orders to the file', async () => {
    const x = async (name) => {
        const box = page.locator(`.press[aria-label="${name}"]`);
        return (await box.boundingBox()).x;
    };
    const way = ['source orders', 'feed orders', 'flow router accounts', 'sink out'];
    const places = [];
    for (const name of way) places.push(await x(name));
    assert.deepEqual(
        places,
        [...places].sort((a, b) => a - b),
    );
});

await testOf('over a real server: recent events are shown', async () => {
    await page.locator('#panel-recent tbody tr').first().waitFor();
});

await test('over a real server: a wrong token is refused and nothing changes', async () => {
    await page.click('#panel-latency');
    await giveToken(page, 'wrong-token-wrong-token');
    await until(
        async () => /refused that token/.test(await text(page, '#token-why')),
        'it says so',
    );
    await page.keyboard.press('Escape');
    await until(async () => /no token was given/.test(await said(page)), 'it says so');
    assert.equal(processorOf(await figures(), 'totals').measured, false);
    page.troubles = page.troubles.filter((line) => !/401/.test(line)); // the browser's own line
});

await testOf('over a real server: latency is switched on, and shown', async () => {
    await page.click('#panel-latency');
    await giveToken(page, TOKEN);
    await until(async () => processorOf(await figures(), 'totals').measured, 'measured');
    await page.locator('#panel-latency[aria-checked="true"]').waitFor();
    await page.locator('#panel-times tbody td').first().waitFor();
    await page.locator('#panel-handling canvas').waitFor();
});

await testOf('over a real server: a processor moves', async () => {
    await page.selectOption('#panel-move-to', 'service');
    await page.click('#panel-move-go');
    await until(async () => /totals moves to service/.test(await said(page)), 'it says so');
    await until(
        async () => processorOf(await figures(), 'totals').dispatcher === 'service',
        'it has moved',
    );
});

await testOf('over a real server: a processor is restarted', async () => {
    const answered = page.waitForResponse((response) =>
        /"restart"/.test(response.request().postData() ?? ''),
    );
    await page.click('#panel-restart');
    const { status, rows } = await (await answered).json();
    assert.equal(status, 'WEIR_OK');
    assert.deepEqual(rows, [{ component: 'totals', restarted: true }]);
    await until(async () => /totals was restarted/.test(await said(page)), 'it says so');
    const before = processorOf(await figures(), 'totals').handled;
    await until(async () => processorOf(await figures(), 'totals').handled > before, 'it goes on');
});

await testOf('over a real server: a processor is stopped, and is gone', async () => {
    await openProcessor(page, 'by-account');
    await page.click('#panel-stop');
    await page.click('#confirm-yes');
    await until(
        async () => /by-account was stopped/.test(await said(page)),
        'it says so',
        10 * SECONDS,
    );
    await until(async () => !processorOf(await figures(), 'by-account'), 'it is gone');
    await page.locator('#panel-gone').waitFor();
    await page.click('#panel-close');
    // Its recent events may have been asked for at that very moment.
    page.troubles = page.troubles.filter((line) => !/404/.test(line));
});

await test('over a real server: axe finds nothing serious', async () => {
    assert.deepEqual(await barriers(page), []);
});

await test('over a real server: the page outlives a restart of it', async () => {
    await stopServer(server);
    await until(
        async () => /^disconnected since /.test(await text(page, '#connection')),
        'disconnected',
    );
    server = startServer();
    await until(
        async () => /^live, server restarted at /.test(await text(page, '#connection')),
        'live again',
        25 * SECONDS,
    );
    await until(async () => numberOf(await text(page, '#tiles .figure')) > 0, 'rates again');
    page.troubles = page.troubles.filter((line) => !/ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(line));
});

await test('over a real server: meanwhile nothing complained', () => {
    assert.deepEqual(page.troubles, []);
});

await closePage(page);
await browser.close();
await stopServer(server);
finish();
