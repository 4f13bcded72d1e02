// SPDX-License-Identifier: Apache-2.0
// Admin commands from the page. What changes something needs the token (token.js).
import { byId, setText } from './dom.js';
import { askForToken, dropToken, keepToken, token, withToken } from './token.js';

// Asks whether it is meant; answers true or false.
export function confirmed(question, consequence, verb) {
    const dialog = byId('confirm-dialog');
    setText(byId('confirm-question'), question);
    setText(byId('confirm-consequence'), consequence);
    setText(byId('confirm-yes'), verb);
    dialog.returnValue = '';
    return new Promise((resolve) => {
        dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), {
            once: true,
        });
        dialog.showModal();
    });
}

async function send(words, bearer) {
    const response = await fetch('/api/v1/run', {
        method: 'POST',
        headers: withToken({ 'Content-Type': 'application/json' }, bearer),
        body: JSON.stringify({ words }),
        signal: AbortSignal.timeout(15000),
    });
    const text = await response.text();
    try {
        return { http: response.status, ...JSON.parse(text) };
    } catch {
        return { http: response.status, error: text.slice(0, 200) };
    }
}

const REFUSED = 401,
    NONE_CONFIGURED = 403;

function outcome(answer) {
    if (answer.http === 200)
        return { ok: true, rows: Array.isArray(answer.rows) ? answer.rows : [] };
    if (answer.http === NONE_CONFIGURED) {
        return {
            ok: false,
            error:
                'This server has no token, so nothing can be changed from here: ' +
                'set weir.admin.http.token-file.',
        };
    }
    return { ok: false, error: String(answer.error ?? `the server answered ${answer.http}`) };
}

const unreachable = (error) => ({
    ok: false,
    error: error.name === 'TimeoutError' ? 'no answer within 15 s' : 'the server cannot be reached',
});

// A command that only looks: { ok, rows } or { ok: false, error }.
export async function ask(...words) {
    try {
        return outcome(await send(words, token()));
    } catch (error) {
        return unreachable(error);
    }
}

// A command that changes something. A wrong token is forgotten, and asked for again once.
export async function change(...words) {
    try {
        let why = 'Changes need the token of this server (weir.admin.http.token-file).';
        for (let attempt = 0; attempt < 2; attempt++) {
            const bearer = token() ?? (await askForToken(why));
            if (bearer === null)
                return { ok: false, error: 'Nothing was changed: no token was given.' };
            const answer = await send(words, bearer);
            if (answer.http !== REFUSED) {
                keepToken(bearer);
                return outcome(answer);
            }
            dropToken(bearer);
            why = 'The server refused that token. Try again, or cancel.';
        }
        return { ok: false, error: 'The server refused the token: nothing was changed.' };
    } catch (error) {
        return unreachable(error);
    }
}
