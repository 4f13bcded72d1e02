// SPDX-License-Identifier: Apache-2.0
// Dark, light, or as the system has it. What the reader chose is kept in this browser; the colours
// themselves are in style.css, and what draws on a canvas asks for them here.
import { byId, setText } from './dom.js';

const KEY = 'weir-theme';
const CHOICES = ['auto', 'dark', 'light'];
const listeners = [];
let colours = new Map();

function stored() {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null;
    }
}

function apply(choice) {
    if (choice === 'auto') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.setAttribute('data-theme', choice);
    setText(byId('theme'), `Theme: ${choice}`);
    colours = new Map();
    listeners.forEach((listener) => listener());
}

export function startTheme() {
    let choice = CHOICES.includes(stored()) ? stored() : 'auto';
    byId('theme').addEventListener('click', () => {
        choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
        try {
            localStorage.setItem(KEY, choice);
        } catch {
            /* then it lasts as long as the page */
        }
        apply(choice);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => apply(choice));
    apply(choice);
}

export const onTheme = (listener) => listeners.push(listener);

// The value of a custom property, such as '--series-1'.
export function colour(name) {
    let value = colours.get(name);
    if (value === undefined) {
        value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        colours.set(name, value);
    }
    return value;
}
