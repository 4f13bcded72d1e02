// SPDX-License-Identifier: Apache-2.0
// `weir run` with page.conf, which tests/contract/page.py writes, and what it says of itself.
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { until } from './harness.mjs';

const { WEIR_COMMAND: WEIR, WEIR_URL: URL_, WEIR_TOKEN: TOKEN } = process.env;
const SECONDS = 1000;

const alive = new Set();
process.on('exit', () => alive.forEach((server) => server.kill('SIGKILL')));

// Its log goes to server.log.
export function startServer(config = 'page.conf') {
    const log = openSync('server.log', 'a');
    const server = spawn(WEIR, ['run', config], { stdio: ['ignore', log, log] });
    alive.add(server);
    server.ended = new Promise((resolve) => server.on('exit', resolve));
    return server;
}

export async function stopServer(server) {
    server.kill('SIGTERM');
    await server.ended;
    alive.delete(server);
}

export async function figures() {
    const headers = { Authorization: `Bearer ${TOKEN}` };
    return (await fetch(`${URL_}/metrics.json`, { headers })).json();
}

export const processorOf = (document, name) =>
    document.processors.find((one) => one.processor === name);

export async function ready() {
    await until(
        async () => {
            try {
                return (await figures()).engine.handled > 0;
            } catch {
                return false;
            }
        },
        'the server answers',
        20 * SECONDS,
    );
}
