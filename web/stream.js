// SPDX-License-Identifier: Apache-2.0
// The figures as they come: server-sent events, and whether they still do. By fetch, not by
// EventSource, which cannot show a token.
import { EventParser } from './event_stream.js';
import { withToken } from './token.js';

const SILENCE_MS = 5000; // without a frame for so long nothing is live
const AGAIN_MS = [1000, 2000, 5000, 10000];
const REFUSED = 401;

// handlers: figures(document), advice(findings), state('live' | 'lost' | 'locked', since in ms), and
//   refused(token or null): the server wants a token, or another one than that. Nothing is tried
//   before unlock() says that there is one.
export class Stream {
    constructor(address, handlers) {
        this.address = address;
        this.handlers = handlers;
        this.failures = 0;
        this.state = 'lost';
        this.why = ''; // what the server said when it refused
        this.since = Date.now();
        this.heard = this.figuresAt = Date.now();
        this.open();
        this.watching = setInterval(() => this.watch(), 1000);
    }

    // One connection, until it ends; then the next.
    async open() {
        clearTimeout(this.waiting);
        this.abort = new AbortController();
        this.heard = Date.now();
        const { abort } = this;
        try {
            await this.read(abort.signal);
            this.why = '';
        } catch (error) {
            this.why = error.refused ?? '';
        }
        if (this.abort !== abort || this.state === 'locked') return;
        abort.abort(); // of a stream that was given up the rest need not come
        this.enter('lost');
        this.again();
    }

    async read(signal) {
        const headers = withToken({ Accept: 'text/event-stream' });
        const response = await fetch(this.address, { headers, signal, cache: 'no-store' });
        if (response.status === REFUSED) {
            response.body?.cancel().catch(() => {});
            this.enter('locked');
            this.handlers.refused(headers.Authorization?.slice('Bearer '.length) ?? null);
            return;
        }
        if (!response.ok) throw await refusalOf(response);
        const parser = new EventParser((event) => this.takeSafely(event));
        const reader = response.body.getReader();
        const decoder = new TextDecoder();
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            this.heard = Date.now();
            parser.push(decoder.decode(value, { stream: true }));
            if (parser.retry !== null) this.retry = parser.retry;
        }
    }

    // There is a token to try.
    unlock() {
        if (this.state !== 'locked') return;
        this.enter('lost');
        this.open();
    }

    // A mistake of the page's own is told by the browser, and is no trouble of the connection.
    takeSafely(event) {
        try {
            this.take(event);
        } catch (error) {
            queueMicrotask(() => {
                throw error;
            });
        }
    }

    take({ type, data }) {
        const document = parsed(data);
        if (type === 'advice' && Array.isArray(document?.findings)) {
            this.handlers.advice(document.findings);
        }
        if (type !== 'figures') return;
        this.figuresAt = Date.now();
        if (document === null || typeof document !== 'object') return;
        this.failures = 0;
        this.enter('live');
        this.handlers.figures(document);
    }

    // Later and later, so that a server that is down is not asked all the time.
    again() {
        const wait = AGAIN_MS[Math.min(this.failures++, AGAIN_MS.length - 1)];
        this.waiting = setTimeout(() => this.open(), Math.max(wait, this.retry ?? 0));
    }

    // A connection can be open and dead: a sleeping laptop, a cable that was pulled.
    watch() {
        const now = Date.now();
        if (this.state === 'live' && now - this.figuresAt >= SILENCE_MS) {
            this.enter('lost', this.figuresAt);
        }
        if (this.state !== 'locked' && now - this.heard >= SILENCE_MS) this.abort.abort();
    }

    enter(state, since = Date.now()) {
        if (this.state === state) return;
        this.state = state;
        this.since = since;
        this.handlers.state(state, since);
    }

    close() {
        clearInterval(this.watching);
        clearTimeout(this.waiting);
        const { abort } = this;
        this.abort = null;
        abort.abort();
    }
}

// Why the server has no stream for us, in its own words.
async function refusalOf(response) {
    const said = parsed(await response.text());
    const text = typeof said?.error === 'string' ? said.error : `it answered ${response.status}`;
    return Object.assign(new Error(text), { refused: text });
}

function parsed(text) {
    try {
        return JSON.parse(text);
    } catch {
        return null; // cut off; the next one comes in a quarter of a second
    }
}
