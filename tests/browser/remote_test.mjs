// SPDX-License-Identifier: Apache-2.0
// The live page of a `weir run` that others can reach (remote.conf, by tests/contract/page.py),
// opened by a name of its own, as from another machine: it asks for the token, and what it does
// with it.
import { readFileSync } from 'node:fs';
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

const { WEIR_URL: URL_, WEIR_TOKEN: TOKEN, WEIR_OTHER_TOKEN: OTHER } = process.env;
const HOST = 'shop.example',
    ENEMY = 'enemy.example';
const { port } = new URL(URL_);
const ADDRESS = `http://${HOST}:${port}/`;

const text = (page, selector) => page.locator(selector).first().textContent();
const rate = async (page) => numberOf(await text(page, '#tiles .figure'));
const connection = (page) => text(page, '#connection');
const asks = (page) => page.locator('#token-dialog[open]').waitFor();
const kept = (page) =>
    page.evaluate(() => [
        sessionStorage.getItem('weir-token'),
        Object.keys(localStorage),
        document.cookie,
    ]);

async function give(page, token) {
    await asks(page);
    await page.fill('#token-input', token);
    await page.keyboard.press('Enter');
}

let server = startServer('remote.conf');
await ready();
const browser = await launch({ hosts: [HOST, ENEMY] });
let page = await openPage(browser, ADDRESS, { shut: true });

await test('from elsewhere: the page loads without a token, and asks for it', async () => {
    await asks(page);
    assert.match(await text(page, '#token-why'), /can be reached by others/);
    assert.equal(await connection(page), 'the server wants its token');
    assert.match(await text(page, '#loading'), /shows its figures to those who have its token/);
    assert.equal(await page.locator('#tiles').isVisible(), false);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'token-input');
    assert.deepEqual(await barriers(page), []);
});

await test('from elsewhere: who gives none sees nothing, and may think better of it', async () => {
    await page.keyboard.press('Escape');
    await page.locator('#token-dialog[open]').waitFor({ state: 'detached' });
    assert.deepEqual(await barriers(page), []);
    await page.click('#unlock');
    await asks(page);
});

await test('from elsewhere: what cannot be a token is not sent', async () => {
    const before = page.asked.length;
    for (const given of ['short', 'blank in a token of 24', 'ünicode-of-24-characters', '']) {
        await give(page, given);
        await until(
            async () => /16 to 1,024 visible characters/.test(await text(page, '#token-why')),
            'it says so',
        );
    }
    assert.equal(page.asked.length, before);
});

await test('from elsewhere: a wrong token is refused, said, forgotten, asked again', async () => {
    for (const wrong of ['wrong-token-wrong-token', TOKEN.slice(1), `${TOKEN}x`]) {
        const answered = page.waitForResponse(/\/events$/);
        await give(page, wrong);
        assert.equal((await answered).status(), 401);
        await until(
            async () => /refused that token/.test(await text(page, '#token-why')),
            'it says so',
        );
        await asks(page);
        assert.deepEqual(await kept(page), [null, [], '']);
    }
});

await test('from elsewhere: the right one shows live figures', async () => {
    await give(page, TOKEN);
    await until(async () => (await connection(page)) === 'live', 'live');
    await until(async () => (await rate(page)) > 0, 'a rate');
    assert.equal(await text(page, '#engine-name'), (await figures()).engine.name);
    await page.locator('#topology .box').first().waitFor();
    assert.deepEqual(await kept(page), [TOKEN, [], '']);
    assert.equal(await page.locator('#unlock').isVisible(), false);
    assert.equal(await page.locator('#raw-links').isVisible(), false);
    assert.equal(await page.locator('#raw-note').isVisible(), true);
});

await test('from elsewhere: buttons work without asking again', async () => {
    const row = page.locator('#processors-table .name').getByText('totals', { exact: true });
    await row.evaluate((button) => button.click());
    await page.locator('#panel-recent tbody tr').first().waitFor();
    await page.click('#panel-latency');
    await until(async () => processorOf(await figures(), 'totals').measured, 'measured');
    await page.locator('#panel-latency[aria-checked="true"]').waitFor();
    assert.equal(await page.locator('#token-dialog[open]').count(), 0);
    await page.click('#panel-close');
});

await test('from elsewhere: a reload keeps the token, another tab has none', async () => {
    await page.reload();
    await until(async () => (await connection(page)) === 'live', 'live');
    assert.equal(await page.locator('#raw-links').isVisible(), false);
    const other = await page.context().newPage();
    await other.goto(ADDRESS);
    await asks(other);
    await other.close();
});

await test('from elsewhere: the page outlives a restart of the server, and asks nothing', async () => {
    await stopServer(server);
    await until(async () => /^disconnected since /.test(await connection(page)), 'disconnected');
    server = startServer('remote.conf');
    await until(async () => /^live, server restarted/.test(await connection(page)), 'live again');
    await until(async () => (await rate(page)) > 0, 'rates again');
    assert.equal(await page.locator('#token-dialog[open]').count(), 0);
});

await test('from elsewhere: one that comes back with another token is asked about', async () => {
    await stopServer(server);
    server = startServer('other.conf');
    await asks(page);
    assert.match(await text(page, '#token-why'), /refused that token/);
    assert.equal(
        await page.locator('#tiles').isVisible(),
        true,
        'the last figures are still there',
    );
    await give(page, OTHER);
    await until(async () => /^live/.test(await connection(page)), 'live again');
    assert.deepEqual(await kept(page), [OTHER, [], '']);
});

await test('from elsewhere: the token is in no address and in no log', async () => {
    const log = readFileSync('server.log', 'utf8');
    const addresses = [...page.asked, page.url()].join('\n');
    for (const secret of [TOKEN, OTHER]) {
        assert.ok(!addresses.includes(secret), addresses);
        assert.ok(!log.includes(secret), log);
    }
});

await test('from elsewhere: meanwhile nothing complained', () => {
    // The browser's own lines about what was refused and lost.
    const rest = page.troubles.filter(
        (line) => !/401|ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(line),
    );
    assert.deepEqual(rest, []);
});

await closePage(page);

await test('a name of another that leads here is shown nothing', async () => {
    const context = await browser.newContext();
    const enemy = await context.newPage();
    const answer = await enemy.goto(`http://${ENEMY}:${port}/`);
    assert.equal(answer.status(), 421);
    await context.close();
});

await test('a page of another site can neither frame it nor read it', async () => {
    const context = await browser.newContext();
    const enemy = await context.newPage();
    await enemy.route(`http://${ENEMY}/**`, (route) =>
        route.fulfill({ contentType: 'text/html', body: `<iframe src="${ADDRESS}"></iframe>` }),
    );
    await enemy.goto(`http://${ENEMY}/`);
    await until(() => enemy.frames().length === 2, 'a frame');
    await until(() => /^(chrome-error:|about:blank)/.test(enemy.frames()[1].url()), 'refused');
    const read = await enemy.evaluate(
        ([address, token]) =>
            fetch(`${address}metrics.json`, { headers: { Authorization: `Bearer ${token}` } }).then(
                (response) => response.status,
                (error) => error.name,
            ),
        [ADDRESS, OTHER],
    );
    assert.equal(read, 'TypeError');
    await context.close();
});

page = null;
await browser.close();
await stopServer(server);
finish();
