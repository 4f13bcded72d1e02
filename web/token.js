// SPDX-License-Identifier: Apache-2.0
// The server's token: asked for in a dialog, kept for this tab until it is closed, shown to nobody
// but the server, in a header. It never becomes part of an address.
import { byId, setText } from './dom.js';

const KEY = 'weir-token',
    READING_KEY = 'weir-reading';
const SHAPE = /^[!-~]{16,1024}$/;

// Kept beside the storage, which a browser may refuse.
const kept = new Map();
const listeners = [];
let asking = null;

function stored(key) {
    try {
        return sessionStorage.getItem(key) ?? kept.get(key) ?? null;
    } catch {
        return kept.get(key) ?? null;
    }
}

function store(key, value) {
    if (value === null) kept.delete(key);
    else kept.set(key, value);
    try {
        if (value === null) sessionStorage.removeItem(key);
        else sessionStorage.setItem(key, value);
    } catch {
        /* kept is enough */
    }
}

export const token = () => stored(KEY);

// Whether this server wants the token of who only reads: it has said so once.
export const readingNeedsToken = () => stored(READING_KEY) !== null;
export const noteReadingNeedsToken = () => store(READING_KEY, 'token');

// The server took it.
export function keepToken(value) {
    if (token() === value) return;
    store(KEY, value);
    listeners.forEach((listener) => listener());
}

// The server refused it; another one may have come meanwhile.
export function dropToken(value) {
    if (token() === value) store(KEY, null);
}

export const onToken = (listener) => listeners.push(listener);

// Headers of a request, with the token if there is one.
export function withToken(headers, value = token()) {
    return value === null ? headers : { ...headers, Authorization: `Bearer ${value}` };
}

function show(why) {
    const dialog = byId('token-dialog');
    const input = byId('token-input');
    setText(byId('token-why'), why);
    input.value = '';
    dialog.returnValue = '';
    return new Promise((resolve) => {
        dialog.addEventListener(
            'close',
            () => {
                const given = dialog.returnValue === 'use' ? input.value.trim() : null;
                input.value = '';
                resolve(given);
            },
            { once: true },
        );
        dialog.showModal();
    });
}

async function askUntilSane(why) {
    let given = await show(why);
    while (given !== null && !SHAPE.test(given)) {
        given = await show('A token has 16 to 1,024 visible characters of ASCII, and no blanks.');
    }
    return given;
}

// The token that was typed, or null if the user thinks better of it. Who asks meanwhile gets the
// same answer.
export function askForToken(why) {
    asking ??= askUntilSane(why).finally(() => {
        asking = null;
    });
    return asking;
}
