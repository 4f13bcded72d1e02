// SPDX-License-Identifier: Apache-2.0
// Elements without a framework. Text is only ever set as text: names come from whoever wrote the
// configuration or sent the event, and are not to be trusted.

// element('td', { class: 'number', title: 'x' }, 'text', child, ...)
export function element(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
        else if (value === true) node.setAttribute(name, '');
        else if (value !== false && value !== null && value !== undefined) {
            node.setAttribute(name, value);
        }
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
}

export const byId = (id) => document.getElementById(id);

// Only what differs: a write that changes nothing still costs the browser, and a reader its place.
export function setText(node, text) {
    if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node, name, value) {
    if (value === null || value === undefined) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function setHidden(node, hidden) {
    if (node.hidden !== hidden) node.hidden = hidden;
}

// A length for the style sheet, by the object model: the page's policy has no styles in markup.
export function setVariable(node, name, value) {
    const text = String(value);
    if (node.style.getPropertyValue(name) !== text) node.style.setProperty(name, text);
}

// Children that stand for `items`, one each, kept by key, in their order. make(item) gives a node,
// update(node, item) its content.
export function keyed(parent, items, key, make, update) {
    const nodes = (parent.keyedNodes ??= new Map());
    const wanted = new Map(items.map((item) => [key(item), item]));
    for (const [name, node] of nodes) {
        if (!wanted.has(name)) {
            node.remove();
            nodes.delete(name);
        }
    }
    let place = parent.firstElementChild;
    for (const [name, item] of wanted) {
        let node = nodes.get(name);
        if (node === undefined) {
            node = make(item);
            nodes.set(name, node);
        }
        if (node === place) place = place.nextElementSibling;
        else parent.insertBefore(node, place);
        update(node, item);
    }
}

// A figure with the colour and the word of its threshold; `rule` is null when all is well.
export function setFigure(node, text, rule) {
    let value = node.firstElementChild;
    if (value === null) {
        node.textContent = '';
        value = element('span', { class: 'value' });
        node.append(value, element('span', { class: 'word' }));
    }
    setText(value, text);
    setText(node.lastElementChild, rule ? rule.word : '');
    setAttribute(node, 'data-level', rule ? rule.level : null);
}
