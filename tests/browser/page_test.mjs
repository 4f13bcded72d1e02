// SPDX-License-Identifier: Apache-2.0
// The live page in a real browser, over made-up servers (fake_server.mjs): what can only be seen
// when the server does as it is told. server_test.mjs has the real one.
import {
    assert,
    barriers,
    cell,
    closePage,
    finish,
    launch,
    numberOf,
    openPage,
    test,
    until,
} from './harness.mjs';
import { FakeServer, HOSTILE } from './fake_server.mjs';

const TOKEN = 'a-token-of-24-characters';
const browser = await launch();

// A server of that scene and a page on it, for as long as act lasts; nothing may have complained.
async function on(scene, act, options = {}) {
    const server = new FakeServer({ scene });
    server.withoutCharts = options.withoutCharts;
    const url = await server.listen();
    const page = await openPage(browser, url, options.context);
    try {
        await act(page, server, url);
        await test(`meanwhile nothing complained (${scene})`, () =>
            assert.deepEqual(page.troubles, []));
    } finally {
        await closePage(page);
        await server.close();
    }
}

const text = (page, selector) => page.locator(selector).first().textContent();

async function giveToken(page, token) {
    await page.locator('#token-dialog[open]').waitFor();
    await page.fill('#token-input', token);
    await page.keyboard.press('Enter');
}

// Not by the pointer: rows may move under it on a busy machine. That way is tested by the boxes.
async function openProcessor(page, name) {
    const row = page.locator('#processors-table .name', { hasText: name }).first();
    await row.evaluate((button) => button.click());
    await page.locator('#panel').waitFor();
}

await on('steady', async (page, server) => {
    await test('the engine, its health, and advice with what to change are shown', async () => {
        assert.equal(await text(page, '#engine-name'), 'quickstart');
        assert.equal(await text(page, '#health-status'), 'degraded');
        assert.match(
            await text(page, '#health-reasons'),
            /processor limits: its mailbox is 93 % full/,
        );
        await page.locator('#advice-list > li').nth(1).waitFor();
        const advice = await page.locator('#advice-list > li').allTextContents();
        assert.match(advice[0], /alert.*limits.*mailbox-max/);
        assert.match(advice[1], /contention 42 %.*give api a second dispatcher/);
    });

    await test('findings that have the same remedy stand together', async () => {
        const real = server.findings;
        const remedy = 'use `fewer` threads';
        server.findings = () =>
            ['dispatcher api', 'dispatcher ""'].map((what) => ({
                rule: 'threads',
                severity: 'note',
                what,
                text: 'too many',
                remedy,
            }));
        await until(async () => (await page.locator('#advice-list > li').count()) === 1, 'one');
        assert.equal(
            await text(page, '#advice-list > li'),
            'notedispatcher api too manydispatcher (default) too manyuse fewer threads',
        );
        server.findings = real;
    });

    await test('rates are those of the server', async () => {
        await until(async () => {
            const shown = numberOf(await cell(page, 'processors', 'by-account', 'Events'));
            return shown > 96000 && shown < 104000;
        }, 'by-account at about 100 k/s');
        assert.match(await text(page, '#tiles .figure'), /k\/s/);
    });

    await test('a figure beyond its threshold has a colour and a word', async () => {
        await until(
            async () => /high/.test(await cell(page, 'dispatchers', 'api', 'Contention')),
            'high',
        );
        assert.match(await cell(page, 'dispatchers', 'service', 'Contention'), /^(< )?0\.1 %$/);
        const colours = await page.evaluate(() =>
            [...document.querySelectorAll('#dispatchers-table td')]
                .filter((td) => td.dataset.level === 'high')
                .map((td) => getComputedStyle(td).color),
        );
        assert.ok(colours.length > 0 && colours.every((one) => one !== 'rgb(226, 234, 241)'));
    });

    await test('the topology goes from source to sink and glows where it is busy', async () => {
        const x = async (name) =>
            (await page.locator(`.press[aria-label="${name}"]`).boundingBox()).x;
        const way = [
            'source orders',
            'feed orders',
            'processor by-account',
            'flow router accounts',
            'processor totals',
            'sink out',
        ];
        const places = await Promise.all(way.map(x));
        assert.deepEqual(
            places,
            [...places].sort((a, b) => a - b),
        );
        const heat = (name) =>
            page
                .locator(`.press[aria-label="${name}"]`)
                .evaluate((node) => Number(node.parentNode.style.getPropertyValue('--heat')));
        await until(async () => (await heat('feed orders')) > 0.8, 'the feed glows');
        assert.ok((await heat('processor check')) === 0);
        assert.ok((await heat('processor audit')) < (await heat('processor totals')));
    });

    await test('charts, the heat map and the sparks are drawn', async () => {
        const painted = (selector) =>
            page
                .locator(selector)
                .first()
                .evaluate((canvas) =>
                    canvas
                        .getContext('2d')
                        .getImageData(0, 0, canvas.width, canvas.height)
                        .data.some((value) => value !== 0),
                );
        for (const place of [
            '#chart-cpu canvas',
            '#heat-canvas',
            '#tiles canvas',
            '#chart-rate canvas',
        ]) {
            // What is off the screen is not drawn.
            await page.locator(place).first().scrollIntoViewIfNeeded();
            await until(() => painted(place), `${place} is painted`);
        }
        // The browser's advice to whoever reads pixels: that is this test, not the page.
        page.troubles = page.troubles.filter((line) => !/willReadFrequently/.test(line));
    });

    await test('what is shown is what /metrics.json says', async () => {
        server.freeze();
        const told = await page.evaluate(async () => (await fetch('/metrics.json')).json());
        await page.locator('.press[aria-label="processor totals"]').click();
        const figure = (name) =>
            page
                .locator('#panel-figures div', {
                    has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }),
                })
                .locator('dd')
                .textContent();
        const row = told.processors.find((one) => one.processor === 'totals');
        await until(
            async () => numberOf(await figure('handled')) === row.handled,
            'handled is the same',
        );
        assert.equal(numberOf(await figure('accepted')), row.accepted);
        assert.equal(numberOf(await figure('depth')), row.depth);
        assert.equal(await text(page, '#panel-title'), 'totals');
        await page.locator('#panel-recent tbody tr').nth(4).waitFor();
    });
});

await on('busy', async (page, server) => {
    await test('a wrong token is refused, said, and not kept', async () => {
        await openProcessor(page, 'audit');
        await page.click('#panel-restart');
        await giveToken(page, 'wrong-token-wrong-token');
        await until(
            async () => /refused that token/.test(await text(page, '#token-why')),
            'it says so',
        );
        await giveToken(page, 'wrong-again-wrong-again');
        await until(
            async () => /nothing was changed/.test(await text(page, '#panel-said')),
            'it says so',
        );
        assert.deepEqual(server.calls, []);
        assert.equal(await page.evaluate(() => sessionStorage.length), 0);
        page.troubles = page.troubles.filter((line) => !/401/.test(line)); // the browser's own line
    });

    await test('beside the panel everything else can still be reached', async () => {
        for (const id of ['pause', 'theme', 'connection']) {
            const { x, width } = await page.locator(`#${id}`).boundingBox();
            const panel = await page.locator('#panel').boundingBox();
            assert.ok(x + width <= panel.x, id);
        }
        const narrow = await page.evaluate(() =>
            [...document.querySelectorAll('.tile .figure')]
                .filter((one) => one.scrollWidth > one.clientWidth)
                .map((one) => one.textContent),
        );
        assert.deepEqual(narrow, []);
    });

    await test('without a token nothing is sent', async () => {
        await page.click('#panel-restart');
        await page.locator('#token-dialog[open]').waitFor();
        await page.keyboard.press('Escape');
        await until(
            async () => /no token was given/.test(await text(page, '#panel-said')),
            'it says so',
        );
        assert.deepEqual(server.calls, []);
    });

    await test('restart, move, the latency switch; the token is asked for once', async () => {
        await page.click('#panel-restart');
        await giveToken(page, TOKEN);
        await until(
            async () => /audit was restarted/.test(await text(page, '#panel-said')),
            'restarted',
        );
        await page.selectOption('#panel-move-to', 'api');
        await page.click('#panel-move-go');
        await until(async () => /moves to api/.test(await text(page, '#panel-said')), 'moved');
        assert.equal(await page.getAttribute('#panel-latency', 'aria-checked'), 'false');
        await page.click('#panel-latency');
        await page.locator('#panel-latency[aria-checked="true"]').waitFor();
        assert.deepEqual(server.calls, [
            ['processors', 'restart', 'audit'],
            ['processors', 'move', 'audit', 'api'],
            ['latency', 'enable', 'audit'],
        ]);
        assert.equal(await page.locator('#token-dialog[open]').count(), 0);
    });

    await test('the token is kept for the tab alone', async () => {
        const kept = await page.evaluate(() => [
            Object.values(sessionStorage),
            Object.values(localStorage),
            document.cookie,
        ]);
        assert.deepEqual(kept, [[TOKEN], [], '']);
    });

    await test('a stop is asked about, and a no is a no', async () => {
        server.calls.length = 0;
        await page.click('#panel-stop');
        await page.locator('#confirm-dialog[open]').waitFor();
        assert.match(await text(page, '#confirm-question'), /Stop audit\?/);
        await page.keyboard.press('Enter'); // Cancel has the focus
        await page.locator('#confirm-dialog[open]').waitFor({ state: 'detached' });
        assert.deepEqual(server.calls, []);
        await page.click('#panel-stop');
        await page.click('#confirm-yes');
        await until(
            async () => /audit was stopped/.test(await text(page, '#panel-said')),
            'stopped',
        );
        assert.deepEqual(server.calls, [['processors', 'stop', 'audit']]);
        await page.locator('#panel-gone').waitFor();
    });
});

await on('busy', async (page, server, url) => {
    await test('the page outlives its server, says since when, and goes on', async () => {
        await until(async () => numberOf(await text(page, '#tiles .figure')) > 0, 'rates');
        await server.close();
        await until(
            async () => /^disconnected since \d\d:\d\d:\d\d$/.test(await text(page, '#connection')),
            'disconnected',
        );
        const next = new FakeServer({ scene: 'busy' });
        await next.listen(Number(new URL(url).port));
        try {
            await until(
                async () => /^live, server restarted at /.test(await text(page, '#connection')),
                'live again',
            );
            await until(
                async () => numberOf(await text(page, '#tiles .figure')) > 0,
                'rates again',
            );
            // The browser tells of the connection that was lost; nothing else may be there.
            page.troubles = page.troubles.filter(
                (line) => !/ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(line),
            );
        } finally {
            await page.goto('about:blank');
            await next.close();
        }
    });
});

await on('busy', async (page) => {
    await test('everything can be reached by the keyboard', async () => {
        const focused = () =>
            page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
        await page.keyboard.press('Tab');
        assert.equal(await focused(), 'Skip to the figures');
        await page.keyboard.press('Enter');
        await until(async () => (await focused()) === 'main', 'the main part has the focus');
        for (let i = 0; i < 40 && (await focused()) !== 'graph'; i++)
            await page.keyboard.press('Tab');
        await page.keyboard.press('Tab');
        const label = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
        await page.keyboard.press('Enter');
        await page.locator('#panel').waitFor();
        assert.ok(label.endsWith(await text(page, '#panel-title')), label);
        assert.equal(await focused(), 'panel-title');
        await page.keyboard.press('Escape');
        await page.locator('#panel').waitFor({ state: 'hidden' });
        assert.equal(
            await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
            label,
        );
    });

    await test('headings sort, by the keyboard, too, and say how', async () => {
        const heading = page.locator('#processors-table th', { hasText: 'Processor' }).first();
        await heading.locator('button').focus();
        await page.keyboard.press('Enter');
        assert.equal(await heading.getAttribute('aria-sort'), 'ascending');
        const names = await page.locator('#processors-table .name').allTextContents();
        assert.deepEqual(
            names,
            [...names].sort((a, b) => a.localeCompare(b)),
        );
        await page.keyboard.press('Space');
        assert.equal(await heading.getAttribute('aria-sort'), 'descending');
    });

    await test('the heat map tells its figures to the arrow keys', async () => {
        await page.locator('#heat-canvas').focus();
        await page.keyboard.press('ArrowDown');
        // A page whose first frame is its newest knows of no time that passed.
        await until(
            async () => /^api-1, now: [\d.]+ % busy$/.test(await text(page, '#heat-readout')),
            'the first row, now',
        );
    });

    await test('a hidden tab is not drawn, and is up to date when it is seen again', async () => {
        const hide = (hidden) =>
            page.evaluate((value) => {
                Object.defineProperty(document, 'hidden', { value, configurable: true });
                document.dispatchEvent(new Event('visibilitychange'));
                window.changes = 0;
                window.observer ??= new MutationObserver((list) => {
                    window.changes += list.length;
                });
                window.observer.observe(document.querySelector('main'), {
                    subtree: true,
                    childList: true,
                    characterData: true,
                    attributes: true,
                });
            }, hidden);
        await hide(true);
        // Five more frames have come to the page meanwhile.
        await page.evaluate(
            () =>
                new Promise((resolve) => {
                    let left = 5;
                    const source = new EventSource('/events');
                    source.addEventListener('figures', () => {
                        if (--left === 0) {
                            source.close();
                            resolve();
                        }
                    });
                }),
        );
        const changes = await page.evaluate(() => window.changes);
        // Advice alone may have come: it is words, and costs nothing.
        assert.ok(changes < 10, `${changes} changes`);
        await hide(false);
        await until(() => page.evaluate(() => window.changes > 10), 'drawn again');
        // What came meanwhile is in the heat map: a column for each of the last five frames.
        const holes = await page.locator('#heat-canvas').evaluate((canvas) => {
            const { width, height } = canvas;
            const row = canvas.getContext('2d').getImageData(0, height / 8, width, 1).data;
            const last = Array.from({ length: 5 }, (_, i) =>
                Math.round(width * (1 - (i + 2) / 120)),
            );
            return last.filter((x) => row[4 * x + 3] === 0).length;
        });
        assert.equal(holes, 0);
    });

    await test('the pause button stops every movement', async () => {
        await page.click('#pause');
        await until(async () => (await text(page, '#connection')) === 'paused', 'paused');
        assert.equal(await page.getAttribute('#pause', 'aria-pressed'), 'true');
        const still = await page.evaluate(
            () =>
                new Promise((resolve) => {
                    const uptime = document.getElementById('engine-uptime').textContent;
                    let left = 6;
                    const source = new EventSource('/events');
                    source.addEventListener('figures', () => {
                        if (--left > 0) return;
                        source.close();
                        resolve(uptime === document.getElementById('engine-uptime').textContent);
                    });
                }),
        );
        assert.ok(still);
        await page.emulateMedia({ reducedMotion: 'no-preference' });
        const animated = await page.evaluate(
            () => getComputedStyle(document.querySelector('.flow')).animationPlayState,
        );
        assert.equal(animated, 'paused');
    });
});

await on('hostile', async (page) => {
    await test('names from outside are text and never run', async () => {
        await openProcessor(page, HOSTILE.slice(0, 20));
        await page.locator('#panel-recent tbody tr').nth(4).waitFor();
        await until(async () => (await page.locator('#advice-list > li').count()) === 2, 'advice');
        assert.equal(await text(page, '#engine-name'), HOSTILE);
        assert.equal(await text(page, '#panel-title'), HOSTILE);
        const found = await page.evaluate(() => [
            window.pwned,
            document.images.length,
            document.querySelectorAll('[onerror]').length,
            document.scripts.length,
        ]);
        assert.deepEqual(found, [undefined, 1, 0, 2]);
    });
});

await on('wide', async (page) => {
    await test('of sixty boxes none covers another, and their names lie within', async () => {
        await page.locator('#topology .box').nth(59).waitFor();
        const wrong = await page.evaluate(() => {
            const found = [];
            const boxes = [...document.querySelectorAll('#topology .box')];
            const areas = boxes.map((box) => box.querySelector('.body').getBoundingClientRect());
            const apart = (a, b) =>
                a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
            boxes.forEach((box, i) => {
                const [label, kind] = [...box.querySelectorAll('.label, .kind')].map((part) =>
                    part.getBoundingClientRect(),
                );
                const end = kind.width > 0 ? kind.left : areas[i].right;
                if (label.right > end) found.push(`the name of ${box.textContent} is too long`);
                areas.slice(i + 1).forEach((other) => {
                    if (!apart(areas[i], other)) found.push(`${box.textContent} is covered`);
                });
            });
            return found;
        });
        assert.deepEqual(wrong, []);
    });
});

await on('empty', async (page) => {
    await test('an engine that has nothing says so, and nothing is wrong with it', async () => {
        assert.match(await text(page, '#graph-note'), /Nothing to draw yet/);
        assert.equal(await page.locator('#graph').isVisible(), false);
        for (const part of ['processors', 'routers', 'feeds', 'letters'])
            await page.locator(`#${part}-table .empty`).waitFor();
        assert.equal(await page.locator('main [data-level]').count(), 0);
        assert.deepEqual(await barriers(page), []);
    });
});

await on('many', async (page) => {
    await test('of 5,008 processors the busiest 100 are shown, and it says so', async () => {
        await until(
            async () => (await page.locator('#processors-table tbody tr').count()) === 100,
            '100',
        );
        assert.match(
            await text(page, '#processors-hidden'),
            /busiest 100 of 5008.*other 4908 are hidden/,
        );
        await page.fill('#processors-filter', 'SESSION-1');
        await until(
            async () => (await page.locator('#processors-table tbody tr').count()) === 11,
            'filtered',
        );
        assert.equal(await text(page, '#processors-count'), '11 fit');
        await page.fill('#processors-filter', 'nobody');
        await page.locator('#processors-table .empty').waitFor();
    });
});

await on(
    'busy',
    async (page) => {
        await test('a phone of 360 pixels needs no scrolling sideways', async () => {
            // Not innerWidth: on a phone that grows with what is too wide.
            const wide = () => page.evaluate(() => document.documentElement.scrollWidth - 360);
            assert.ok((await wide()) <= 0);
            await openProcessor(page, 'limits');
            assert.ok((await wide()) <= 0);
            const panel = await page.locator('#panel').boundingBox();
            assert.ok(panel.width <= 360);
            assert.deepEqual(await barriers(page), []);
        });
    },
    { context: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true } },
);

await on(
    'busy',
    async (page) => {
        const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

        await test('it is light where the system is; the switch wins, and is kept', async () => {
            assert.equal(await ground(), 'rgb(238, 242, 245)');
            await page.emulateMedia({ colorScheme: 'dark' });
            assert.equal(await ground(), 'rgb(12, 17, 22)');
            await page.click('#theme');
            await page.click('#theme');
            assert.equal(await text(page, '#theme'), 'Theme: light');
            assert.equal(await ground(), 'rgb(238, 242, 245)');
            await page.reload();
            await page.locator('#loading').waitFor({ state: 'hidden' });
            assert.equal(await ground(), 'rgb(238, 242, 245)');
        });

        await test('axe finds nothing serious, light', async () => {
            await openProcessor(page, 'limits');
            await page.locator('#panel-recent tbody tr').first().waitFor();
            assert.deepEqual(await barriers(page), []);
        });

        await test('axe finds nothing serious, dark', async () => {
            await page.click('#panel-close');
            await page.click('#theme');
            await page.click('#theme');
            assert.equal(await ground(), 'rgb(12, 17, 22)');
            assert.deepEqual(await barriers(page), []);
        });
    },
    { context: { colorScheme: 'light' } },
);

await on('idle', async (page) => {
    await test('a server at rest is calm: up, no advice, no colours', async () => {
        assert.equal(await text(page, '#health-status'), 'up');
        await page.locator('#advice-none').waitFor();
        assert.equal(await page.locator('main [data-level]').count(), 0);
        assert.deepEqual(await barriers(page), []);
    });

    await test('who wants less motion sees none', async () => {
        const movement = () =>
            page.evaluate(() => getComputedStyle(document.querySelector('.flow')).animationName);
        assert.equal(await movement(), 'none');
        await page.emulateMedia({ reducedMotion: 'no-preference' });
        assert.equal(await movement(), 'flow');
    });
});

await on(
    'busy',
    async (page) => {
        await test('without uPlot there is a note in place of charts', async () => {
            assert.match(await text(page, '#chart-rate'), /built without uPlot/);
            await until(
                async () => (await page.locator('#dispatchers-table tbody tr').count()) === 3,
                'rows',
            );
            await openProcessor(page, 'limits');
        });
    },
    { withoutCharts: true },
);

await browser.close();
finish();
