// SPDX-License-Identifier: Apache-2.0
// Files of `weir trace` in another one's reader: Catapult's trace viewer, which is chrome://tracing.
// What its model has of a file is compared with what the file says. Debian has the viewer among the
// sources of Go, whose own tracer shows it.
//
//   WEIR_TRACE_VIEWER=FOLDER WEIR_TRACE_FILES=FILE:... node tests/browser/trace_test.mjs
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { assert, finish, launch, test, until } from './harness.mjs';

const VIEWER = process.env.WEIR_TRACE_VIEWER;
const PAGE =
    '<!doctype html><html><head><script src="/webcomponents.min.js"></script>' +
    '<link rel="import" href="/trace_viewer_full.html"></head><body></body></html>';
const ANSWERS = {
    '/': ['text/html', () => PAGE],
    '/favicon.ico': ['image/x-icon', () => ''],
    '/webcomponents.min.js': [
        'text/javascript',
        () => readFileSync(join(VIEWER, 'webcomponents.min.js')),
    ],
    '/trace_viewer_full.html': [
        'text/html',
        () => readFileSync(join(VIEWER, 'trace_viewer_full.html')),
    ],
};

async function serve() {
    const server = createServer((request, response) => {
        const answer = ANSWERS[request.url];
        response.writeHead(answer ? 200 : 404, { 'Content-Type': answer?.[0] ?? 'text/plain' });
        response.end(answer?.[1]() ?? '');
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${server.address().port}/`;
}

async function openViewer(browser) {
    const page = await browser.newPage();
    page.troubles = [];
    page.on('pageerror', (error) => page.troubles.push(error.stack));
    await page.goto(await serve());
    const there = () => Boolean(globalThis.tr?.importer?.Import && globalThis.tr.Model);
    await until(() => page.evaluate(there), 'the viewer is loaded');
    return page;
}

// In the page: what the viewer has made of a text.
function read(text) {
    const tr = globalThis.tr;
    const model = new tr.Model();
    const options = new tr.importer.ImportOptions();
    options.shiftWorldToZero = false;
    try {
        new tr.importer.Import(model, options).importTraces([text]);
    } catch (error) {
        return { failed: String(error.stack ?? error) };
    }
    const end = (slice) => slice && { kind: slice.category, thread: slice.parentContainer?.tid };
    return {
        warnings: model.importWarnings.map((one) => `${one.type}: ${one.message}`),
        processes: model.getAllProcesses().map((one) => one.name),
        threads: model.getAllThreads().map((one) => ({
            tid: one.tid,
            name: one.name,
            slices: one.sliceGroup.slices.map((s) => [s.title, s.category]),
            unfinished: one.sliceGroup.slices.filter((s) => s.didNotFinish).length,
            bare: one.sliceGroup.slices
                .filter((s) => s.category === 'handler' && !s.parentSlice)
                .map((s) => s.start),
            turns: one.sliceGroup.slices
                .filter((s) => s.category === 'turn')
                .map((s) => [s.start, s.end]),
            around: one.sliceGroup.slices.filter((s) => s.category === 'turn' && s.parentSlice)
                .length,
        })),
        arrows: model.flowEvents.map((one) => ({
            id: one.id,
            from: end(one.startSlice),
            to: end(one.endSlice),
        })),
    };
}

const sorted = (list) => list.map(String).sort();

// Ends of those that begin, once each.
function arrowsOf(events) {
    const begun = new Set(events.filter((e) => e.ph === 's').map((e) => e.id));
    return events.filter((e) => e.ph === 'f' && begun.has(e.id)).map((e) => e.id);
}

async function look(page, path) {
    const name = basename(path);
    const text = readFileSync(path, 'utf8');
    const document = JSON.parse(text);
    const events = document.traceEvents;
    const whole = document.otherData.records_lost === 0;
    const slices = events.filter((e) => e.ph === 'X');
    const model = await page.evaluate(read, text);
    await test(`${name}: the viewer reads it, and warns of nothing`, () => {
        assert.equal(model.failed, undefined);
        assert.deepEqual(model.warnings, []);
        assert.deepEqual(page.troubles, []);
    });
    if (model.failed) return;
    await test(`${name}: the process and the threads have their names`, () => {
        const named = (kind) => events.filter((e) => e.name === kind).map((e) => e.args.name);
        assert.deepEqual(sorted(model.processes), sorted(named('process_name')));
        // Those that have nothing to show are none for it.
        const used = new Set([...slices.map((e) => e.tid)]);
        const names = events.filter((e) => e.name === 'thread_name' && used.has(e.tid));
        assert.deepEqual(
            sorted(model.threads.map((t) => `${t.tid} ${t.name}`)),
            sorted(names.map((e) => `${e.tid} ${e.args.name}`)),
        );
    });
    await test(`${name}: every slice is there, on its thread, by its name`, () => {
        assert.ok(slices.length > 10, `${slices.length} slices`);
        assert.deepEqual(
            sorted(model.threads.flatMap((t) => t.slices.map((s) => [t.tid, ...s]))),
            sorted(slices.map((e) => [e.tid, e.name, e.cat])),
        );
    });
    await test(`${name}: slices nest: handlers in turns, turns in nothing`, () => {
        for (const thread of model.threads) {
            assert.equal(thread.unfinished, 0, thread.name);
            assert.equal(thread.around, 0, thread.name);
            // The turn around the first, or the last, may not have been recorded whole.
            const begin = Math.min(...thread.turns.map((turn) => turn[0]));
            const end = Math.max(...thread.turns.map((turn) => turn[1]));
            const strange = thread.bare.filter((start) => start > begin && start < end);
            assert.deepEqual(strange, [], thread.name);
        }
    });
    await test(`${name}: every arrow is there, from a slice to a handler`, () => {
        assert.deepEqual(sorted(model.arrows.map((a) => a.id)), sorted(arrowsOf(events)));
        for (const arrow of model.arrows) {
            assert.equal(arrow.to?.kind, 'handler', JSON.stringify(arrow));
            assert.ok(arrow.from, JSON.stringify(arrow));
        }
        if (whole) assert.ok(model.arrows.length > 10, `${model.arrows.length} arrows`);
    });
}

const browser = await launch();
const page = await openViewer(browser);
for (const path of process.env.WEIR_TRACE_FILES.split(':')) await look(page, path);
await browser.close();
finish();
