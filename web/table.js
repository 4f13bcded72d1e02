// SPDX-License-Identifier: Apache-2.0
// A table that is sorted by its headings, filtered by a box, and updated in place. A column:
//
//   { label, value: row → number or text, by which it is sorted, text: row → what is shown,
//     rule: row → threshold or null, bar: row → 0..1, hint: what the figure means,
//     wide: not on a phone, kind: 'text' | 'number' }
//
// The first column names the row; with `open` its name is a button.
import { element, keyed, setAttribute, setFigure, setText, setVariable } from './dom.js';

const ROWS_MAX = 200;
const ORDER_EVERY_MS = 1000; // rows that jump four times a second cannot be read

export class Table {
    constructor(
        place,
        { caption, columns, key, open, empty, sort, descending = true, titled = false },
    ) {
        Object.assign(this, { columns, key, open, descending });
        this.sortBy = sort ?? 0;
        this.filter = '';
        this.order = new Map();
        this.ordered = 0;
        this.head = element('tr', {}, ...columns.map((column, i) => this.heading(column, i)));
        this.body = element('tbody');
        this.empty = element('p', { class: 'empty' }, empty ?? 'none');
        this.table = element(
            'table',
            {},
            element('caption', { class: titled ? 'unseen' : null }, caption),
            element('thead', {}, this.head),
            this.body,
        );
        this.scroll = element(
            'div',
            {
                'class': 'scroll',
                'tabindex': '0',
                'role': 'region',
                'aria-label': `${caption}: table`,
            },
            this.table,
        );
        place.append(this.scroll, this.empty);
        this.showOrder();
    }

    heading(column, index) {
        const name = element(
            'button',
            { type: 'button', class: 'sort', title: column.hint ?? null },
            column.label,
        );
        name.addEventListener('click', () => this.sort(index));
        return element('th', { scope: 'col', class: classOf(column) }, name);
    }

    sort(index) {
        this.descending =
            this.sortBy === index ? !this.descending : this.columns[index].kind !== 'text';
        this.sortBy = index;
        this.ordered = 0;
        this.showOrder();
        this.update(this.rows ?? []);
    }

    showOrder() {
        [...this.head.children].forEach((cell, i) => {
            const way = this.descending ? 'descending' : 'ascending';
            setAttribute(cell, 'aria-sort', i === this.sortBy ? way : null);
        });
    }

    setFilter(text) {
        this.filter = text.trim().toLowerCase();
        this.ordered = 0;
        this.update(this.rows ?? []);
    }

    // Answers how many rows fit the filter.
    update(rows) {
        this.rows = rows;
        const fitting =
            this.filter === '' ? rows : rows.filter((row) => this.words(row).includes(this.filter));
        keyed(
            this.body,
            this.inOrder(fitting).slice(0, ROWS_MAX),
            this.key,
            (row) => this.make(row),
            (node, row) => this.show(node, row),
        );
        this.scroll.hidden = fitting.length === 0;
        this.empty.hidden = fitting.length !== 0;
        return fitting.length;
    }

    words(row) {
        return this.columns
            .filter((column) => column.kind === 'text')
            .map((column) => column.text(row))
            .join(' ')
            .toLowerCase();
    }

    // The order of a second ago, unless it is time for another, or somebody points at a row.
    inOrder(rows) {
        const now = performance.now();
        const busy = this.body.matches(':hover') || this.body.contains(document.activeElement);
        if (this.ordered === 0 || (!busy && now - this.ordered > ORDER_EVERY_MS)) {
            const { value } = this.columns[this.sortBy];
            const sign = this.descending ? -1 : 1;
            const sorted = [...rows].sort((a, b) => sign * compare(value(a), value(b), sign));
            this.order = new Map(sorted.map((row, place) => [this.key(row), place]));
            this.ordered = now;
            return sorted;
        }
        const place = (row) => this.order.get(this.key(row)) ?? Infinity;
        return [...rows].sort((a, b) => place(a) - place(b) || 0);
    }

    make(row) {
        const cells = this.columns.map((column, i) => {
            if (i > 0) return element('td', { class: classOf(column) });
            if (!this.open) return element('th', { scope: 'row', class: classOf(column) });
            const button = element('button', { type: 'button', class: 'name' });
            return element('th', { scope: 'row', class: classOf(column) }, button);
        });
        const node = element('tr', { class: this.open ? 'opens' : null }, ...cells);
        if (this.open) node.addEventListener('click', () => this.open(node.row));
        return node;
    }

    show(node, row) {
        node.row = row;
        this.columns.forEach((column, i) => {
            const cell = node.children[i];
            const text = column.text(row);
            if (i === 0) setText(this.open ? cell.firstElementChild : cell, text);
            else if (column.rule) setFigure(cell, text, column.rule(row));
            else setText(cell, text);
            if (column.bar) setVariable(cell, '--fill', barLength(column.bar(row)));
        });
    }
}

function barLength(share) {
    return Number.isFinite(share) ? Math.min(1, Math.max(0, share)).toFixed(3) : '0';
}

function classOf(column) {
    const words = [column.kind ?? 'number'];
    if (column.bar) words.push('bar');
    if (column.wide) words.push('wide');
    return words.join(' ');
}

// What has no value comes last, whichever way the rest is sorted.
function compare(a, b, sign) {
    if (typeof a === 'string' || typeof b === 'string') return String(a).localeCompare(String(b));
    const [hasA, hasB] = [Number.isFinite(a), Number.isFinite(b)];
    if (!hasA || !hasB) return sign * (Number(hasB) - Number(hasA));
    return a - b;
}
