// SPDX-License-Identifier: Apache-2.0
// Server-sent events out of pieces of text, wherever those are cut: lines end with CR, LF or both,
// an empty one ends an event. What is not whole at the end of the stream is none.

const EVENT_MAX = 32 << 20; // letters: no frame of weir's comes near it

export class EventParser {
    // take({ type, data, id })
    constructor(take) {
        this.take = take;
        this.rest = ''; // of a line that has not ended
        this.afterReturn = false; // a LF that comes next belongs to the CR before
        this.id = '';
        this.retry = null; // milliseconds, once the server has said them
        this.clear();
    }

    clear() {
        this.type = '';
        this.data = [];
        this.size = 0;
    }

    push(piece) {
        let start = 0;
        if (this.afterReturn && piece.length > 0) {
            this.afterReturn = false;
            if (piece[0] === '\n') start = 1;
        }
        const ends = /\r\n?|\n/g;
        ends.lastIndex = start;
        for (let end = ends.exec(piece); end !== null; end = ends.exec(piece)) {
            const line = this.rest + piece.slice(start, end.index);
            this.rest = '';
            start = ends.lastIndex;
            this.afterReturn = end[0] === '\r' && start === piece.length;
            this.line(line);
        }
        this.rest += piece.slice(start);
        if (this.rest.length + this.size > EVENT_MAX) throw new Error('an event without an end');
    }

    line(line) {
        if (line === '') {
            const { type, data, id } = this;
            this.clear();
            if (data.length > 0) this.take({ type: type || 'message', data: data.join('\n'), id });
            return;
        }
        const colon = line.indexOf(':');
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
        this.field(field, value);
    }

    // A line that begins with a colon is a comment: its field has no name, and none is known so.
    field(field, value) {
        if (field === 'data') {
            this.data.push(value);
            this.size += value.length;
        } else if (field === 'event') {
            this.type = value;
        } else if (field === 'id') {
            if (!value.includes('\0')) this.id = value;
        } else if (field === 'retry' && /^\d+$/.test(value)) {
            this.retry = Number(value);
        }
    }
}
