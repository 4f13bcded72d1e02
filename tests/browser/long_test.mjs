// SPDX-License-Identifier: Apache-2.0
// A page that is left open, with all that happens to one: panels, advice that comes and goes, streams
// that break. Once its five minutes of history are full its heap, its nodes and its listeners do not
// grow. Frames come ten times as fast as a server's, so WEIR_PAGE_SECONDS stand for ten times as
// many. The figures are printed.
import { assert, closePage, finish, launch, openPage, test, until } from './harness.mjs';
import { FakeServer } from './fake_server.mjs';

const SECONDS = Number(process.env.WEIR_PAGE_SECONDS ?? 60);
const FRAME_MS = 25;
const ROUND_MS = 1000;
const HISTORY = 1200; // frames that the page keeps
const WARM_UP_MIN = 6; // rounds
const HEAP_MAX = 600e3; // what two looks at the same heap differ by, and a little
const NODES_MAX = 150; // a row, a legend: what is shown differs from moment to moment
const LISTENERS_MAX = 30;

const server = new FakeServer({ scene: 'busy', every: FRAME_MS });
const url = await server.listen();
const browser = await launch();
const page = await openPage(browser, url);
const inspector = await page.context().newCDPSession(page);
await inspector.send('Performance.enable');

async function weigh() {
    for (let i = 0; i < 3; i++) await inspector.send('HeapProfiler.collectGarbage');
    const { metrics } = await inspector.send('Performance.getMetrics');
    const of = (name) => metrics.find((one) => one.name === name).value;
    // What arrays and the elements hold is counted apart, by browsers that tell of it.
    const all = await inspector.send('Runtime.getHeapUsage');
    const heap = all.usedSize + (all.backingStorageSize ?? 0);
    return { heap, nodes: of('Nodes'), listeners: of('JSEventListeners') };
}

// One of every kind of thing that people and servers do.
async function round(number) {
    const end = Date.now() + ROUND_MS;
    server.advice = number % 2 === 0;
    await page.evaluate((index) => {
        const names = document.querySelectorAll('#processors-table .name');
        names[index % names.length].click();
    }, number);
    await page.locator('#panel-recent tbody tr').first().waitFor();
    if (number % 3 === 0) await page.click('#panel-close');
    await page
        .locator('#processors-table .sort')
        .nth(number % 4)
        .evaluate((one) => one.click());
    await page.locator('#theme').evaluate((one) => one.click());
    if (number % 5 === 4) for (const stream of server.streams) stream.destroy();
    await until(() => Date.now() >= end, 'the end of the round', 2 * ROUND_MS);
}

// As it is when nothing is open.
async function rest() {
    if (await page.locator('#panel').isVisible()) await page.click('#panel-close');
    server.advice = true;
    await page.locator('#advice-list > li').nth(1).waitFor();
    await until(async () => (await page.textContent('#connection')).startsWith('live'), 'live');
    // The least of a few: what a frame is at work on just now is no growth.
    const looks = [];
    for (let frame = server.frame; looks.length < 5; frame = server.frame) {
        looks.push(await weigh());
        await until(() => server.frame > frame + 8, 'another few frames');
    }
    const least = (part) => Math.min(...looks.map((one) => one[part]));
    return { heap: least('heap'), nodes: least('nodes'), listeners: least('listeners') };
}

await test(`a page that has seen ${(SECONDS * 1000) / FRAME_MS} frames does not grow`, async () => {
    let number = 0;
    while (number < WARM_UP_MIN || server.frame < HISTORY + 100) await round(number++);
    const before = await rest();
    console.log(`# after ${server.frame} frames at first ${JSON.stringify(before)}`);
    const end = Date.now() + SECONDS * 1000;
    for (let told = Date.now(); Date.now() < end;) {
        await round(number++);
        if (Date.now() - told < 15000) continue;
        told = Date.now();
        console.log(`# after ${server.frame} frames ${JSON.stringify(await rest())}`);
    }
    const after = await rest();
    console.log(`# after ${server.frame} frames, ${number} rounds: ${JSON.stringify(after)}`);
    assert.ok(after.heap - before.heap < HEAP_MAX, `heap: ${before.heap}, then ${after.heap}`);
    assert.ok(after.nodes - before.nodes < NODES_MAX, `${before.nodes} nodes, then ${after.nodes}`);
    assert.ok(
        after.listeners - before.listeners < LISTENERS_MAX,
        `${before.listeners} listeners, then ${after.listeners}`,
    );
});

await test('meanwhile nothing complained (left open)', () => {
    assert.deepEqual(
        page.troubles.filter((line) => !/ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(line)),
        [],
    );
});

await closePage(page);
await browser.close();
await server.close();
finish();
