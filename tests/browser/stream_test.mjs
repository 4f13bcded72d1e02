// SPDX-License-Identifier: Apache-2.0
// The stream of the page without a browser: server-sent events cut at every place, and what becomes
// of a connection that ends, is refused, or says nothing.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assert, finish, test } from './harness.mjs';
import { ROOT } from './fake_server.mjs';

const copies = mkdtempSync(join(tmpdir(), 'weir-web-'));
process.on('exit', () => rmSync(copies, { recursive: true }));
cpSync(join(ROOT, 'web'), copies, { recursive: true });
writeFileSync(join(copies, 'package.json'), '{ "type": "module" }');
const web = (name) => import(pathToFileURL(join(copies, name)));
const { EventParser } = await web('event_stream.js');
const { Stream } = await web('stream.js');
const { dropToken, keepToken } = await web('token.js');

function eventsOf(pieces) {
    const found = [];
    const parser = new EventParser((event) => found.push(event));
    for (const piece of pieces) parser.push(piece);
    return { found, parser };
}

const TEXT =
    ': a comment\nretry: 700\nid: 7\nevent: figures\ndata: {"a": "ü→😀"}\n\n' +
    'data:one\ndata: two\ndata\ndata:  three\n\nevent: none\n\n' +
    'unknown: x\nnothing\nid: 8\0\nretry: 5x\ndata: last\n\ndata: cut off\n';
const EVENTS = [
    { type: 'figures', data: '{"a": "ü→😀"}', id: '7' },
    { type: 'message', data: 'one\ntwo\n\n three', id: '7' },
    { type: 'message', data: 'last', id: '7' },
];

await test('events have their type, data and id; comments and unknown fields are none', () => {
    const { found, parser } = eventsOf([TEXT]);
    assert.deepEqual(found, EVENTS);
    assert.equal(parser.retry, 700);
});

await test('wherever a stream is cut, and whatever ends its lines, the events are the same', () => {
    for (const end of ['\n', '\r\n', '\r']) {
        const text = TEXT.replaceAll('\n', end);
        for (let at = 0; at <= text.length; at++) {
            assert.deepEqual(eventsOf([text.slice(0, at), text.slice(at)]).found, EVENTS);
            assert.deepEqual(eventsOf([text.slice(0, at), '', text.slice(at)]).found, EVENTS);
        }
        assert.deepEqual(eventsOf([...text]).found, EVENTS, 'letter by letter');
    }
});

await test('letters of several bytes may be cut, too', () => {
    const bytes = new TextEncoder().encode(TEXT);
    const decoder = new TextDecoder();
    const pieces = [...bytes].map((byte) => decoder.decode(Uint8Array.of(byte), { stream: true }));
    assert.deepEqual(eventsOf(pieces).found, EVENTS);
});

await test('an event without an end is not kept for ever', () => {
    const parser = new EventParser(() => {});
    const piece = 'x'.repeat(1 << 20);
    assert.throws(() => {
        for (let i = 0; i < 64; i++) parser.push(piece);
    }, /without an end/);
    const lines = new EventParser(() => {});
    assert.throws(() => {
        for (let i = 0; i < 64; i++) lines.push(`data: ${piece}\n`);
    }, /without an end/);
});

/* ---- connections ---- */

// What fetch is asked for, and a script of answers; after the last one nothing comes any more.
class Net {
    constructor(...answers) {
        this.answers = answers;
        this.asked = [];
        globalThis.fetch = (address, { headers, signal }) => this.answer(address, headers, signal);
    }

    answer(address, headers, signal) {
        this.asked.push({ address, headers });
        const next = this.answers.shift();
        if (next instanceof Error) return Promise.reject(next);
        if (next !== undefined) return Promise.resolve(next(signal));
        return new Promise((_, fail) =>
            signal.addEventListener('abort', () => fail(signal.reason), { once: true }),
        );
    }
}

const figures = (name) => `event: figures\ndata: {"engine": {"name": "${name}"}}\n\n`;

const streaming =
    (text, { open = false, bytewise = false } = {}) =>
    (signal) =>
        new Response(
            new ReadableStream({
                start(controller) {
                    const bytes = new TextEncoder().encode(text);
                    for (const one of bytewise ? bytes : []) controller.enqueue(Uint8Array.of(one));
                    if (!bytewise) controller.enqueue(bytes);
                    if (!open) controller.close();
                    else signal.addEventListener('abort', () => controller.error(signal.reason));
                },
            }),
        );

const refusal = (status, error) => () => new Response(JSON.stringify({ error }), { status });

// Time that stands still but for `pass`.
class Clock {
    constructor() {
        this.now = 1e12;
        this.timers = new Map();
        this.next = 1;
        this.real = {};
        for (const name of ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'])
            this.real[name] = globalThis[name];
        this.realNow = Date.now;
        Date.now = () => this.now;
        globalThis.setTimeout = (act, ms) => this.add(act, ms, 0);
        globalThis.setInterval = (act, ms) => this.add(act, ms, ms);
        globalThis.clearTimeout = globalThis.clearInterval = (id) => this.timers.delete(id);
    }

    add(act, ms, every) {
        this.timers.set(this.next, { act, due: this.now + ms, every });
        return this.next++;
    }

    async pass(ms) {
        for (const end = this.now + ms; this.now < end; await settled()) {
            this.now += 250;
            for (const [id, timer] of this.timers) {
                if (timer.due > this.now) continue;
                if (timer.every === 0) this.timers.delete(id);
                timer.due += timer.every;
                timer.act();
            }
        }
    }

    close() {
        Object.assign(globalThis, this.real);
        Date.now = this.realNow;
    }
}

// Everything that is due at once has happened.
const settle = () => new Promise((resolve) => setImmediate(resolve));
const settled = async () => {
    for (let i = 0; i < 20; i++) await settle();
};

async function on(answers, act) {
    const clock = new Clock();
    const net = new Net(...answers);
    const heard = { names: [], states: [], refused: [] };
    const stream = new Stream('/events', {
        figures: (document) => heard.names.push(document.engine.name),
        advice: () => {},
        state: (state) => heard.states.push(state),
        refused: (token) => heard.refused.push(token),
    });
    const pass = (ms) => clock.pass(ms);
    try {
        await settled();
        await act({ net, heard, stream, pass });
    } finally {
        stream.close();
        clock.close();
    }
}

await test('a stream that ends begins again after a while', () =>
    on([streaming(figures('a')), streaming(figures('b'))], async ({ heard, pass }) => {
        assert.deepEqual(heard.names, ['a']);
        assert.deepEqual(heard.states, ['live', 'lost']);
        await pass(750);
        assert.deepEqual(heard.names, ['a']);
        await pass(500);
        assert.deepEqual(heard.names, ['a', 'b']);
    }));

await test('figures that come byte by byte are the same', () =>
    on([streaming(figures('ü→😀'), { bytewise: true })], async ({ heard, pass }) => {
        await pass(250);
        assert.deepEqual(heard.names, ['ü→😀']);
    }));

await test('a server that is down is asked less and less often', () =>
    on(Array(9).fill(new Error('refused')), async ({ net, pass }) => {
        const at = [];
        for (let second = 0; second < 40; second++) {
            await pass(1000);
            at.push(net.asked.length);
        }
        assert.deepEqual(
            [at[0], at[2], at[7], at[17], at[27], at[37]],
            [2, 3, 4, 5, 6, 7],
            at.join(' '),
        );
    }));

await test('how long to wait at least is for the server to say', () =>
    on([streaming(`retry: 6000\n\n${figures('a')}`)], async ({ net, pass }) => {
        await pass(5500);
        assert.equal(net.asked.length, 1);
        await pass(1000);
        assert.equal(net.asked.length, 2);
    }));

await test('figures put an end to the waiting', () =>
    on(
        [new Error('x'), new Error('x'), streaming(figures('a')), streaming(figures('b'))],
        async ({ heard, pass }) => {
            await pass(3250);
            assert.deepEqual(heard.names, ['a']);
            await pass(1250);
            assert.deepEqual(heard.names, ['a', 'b']);
        },
    ));

await test('a stream that has fallen silent is given up', () =>
    on([streaming(figures('a'), { open: true })], async ({ net, heard, stream, pass }) => {
        assert.equal(stream.state, 'live');
        await pass(4750);
        assert.equal(stream.state, 'live');
        await pass(500);
        assert.deepEqual(heard.states, ['live', 'lost']);
        await pass(1000);
        assert.equal(net.asked.length, 2);
    }));

await test('one that says something, but no figures, is not live, nor given up', () =>
    on([], async ({ net, heard, stream, pass }) => {
        let say;
        stream.abort.abort();
        net.answers = [
            (signal) =>
                new Response(
                    new ReadableStream({
                        start(controller) {
                            signal.addEventListener('abort', () => controller.error('given up'));
                            say = (text) => controller.enqueue(new TextEncoder().encode(text));
                            say(figures('a'));
                        },
                    }),
                ),
        ];
        await pass(1250);
        assert.deepEqual(heard.states, ['live']);
        for (let i = 0; i < 10; i++) {
            say(': no figures\n\n');
            await pass(1000);
        }
        assert.deepEqual(heard.states, ['live', 'lost']);
        say(figures('b'));
        await pass(250);
        assert.deepEqual(heard.states, ['live', 'lost', 'live']);
        assert.equal(net.asked.length, 2);
    }));

await test('one that is never answered is given up, too', () =>
    on([], async ({ net, pass }) => {
        await pass(8000);
        assert.ok(net.asked.length >= 2, net.asked.length);
    }));

await test('a mistake of who takes the figures is told, and ends no stream', () =>
    on([streaming(figures('a'), { open: true })], async ({ stream }) => {
        const told = new Promise((resolve) => process.once('uncaughtException', resolve));
        stream.handlers.figures = () => {
            throw new Error('a mistake');
        };
        stream.takeSafely({ type: 'figures', data: '{}' });
        assert.equal((await told).message, 'a mistake');
        assert.equal(stream.state, 'live');
    }));

await test('why the server has no stream is told', () =>
    on([refusal(503, 'too many event streams')], async ({ stream, heard }) => {
        assert.equal(stream.why, 'too many event streams');
        assert.equal(stream.state, 'lost');
        assert.deepEqual(heard.refused, []);
    }));

await test('a server that wants the token is not asked again before there is one', () =>
    on([refusal(401, 'token')], async ({ net, heard, stream, pass }) => {
        assert.deepEqual(heard.refused, [null]);
        assert.equal(stream.state, 'locked');
        await pass(60000);
        assert.equal(net.asked.length, 1);
        net.answers = [streaming(figures('a'), { open: true })];
        keepToken('a-token-of-24-characters');
        stream.unlock();
        await settled();
        assert.equal(net.asked[1].headers.Authorization, 'Bearer a-token-of-24-characters');
        assert.equal(net.asked[1].address, '/events', 'it is in no address');
        assert.deepEqual(heard.names, ['a']);
        dropToken('a-token-of-24-characters');
    }));

await test('a token that the server refuses is told apart from none', async () => {
    keepToken('b-token-of-24-characters');
    await on([refusal(401, 'token')], async ({ heard, stream }) => {
        assert.deepEqual(heard.refused, ['b-token-of-24-characters']);
        assert.equal(stream.state, 'locked');
    });
    dropToken('b-token-of-24-characters');
});

finish();
