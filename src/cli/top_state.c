/*
 * cli/top_state.c - what is to be seen, and what a key changes about it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cli/top.h"

/* The table of each view that is sorted and scrolled. */
static const uint32_t table_of[WEIR__TOP_VIEWS] = {
    WEIR__TOP_PROCESSORS, WEIR__TOP_DISPATCHERS, WEIR__TOP_THREADS,
    WEIR__TOP_PROCESSORS, WEIR__TOP_WORKERS,     WEIR__TOP_LETTERS,
};

void weir__top_state_open(weir__top_state *state)
{
    *state = (weir__top_state){ 0 };
    for (uint32_t i = 0; i < WEIR__TOP_TABLES; i++) {
        state->orders[i].column = -1;
    }
    state->orders[WEIR__TOP_PROCESSORS].column =
        weir__top_column_find(&weir__top_tables[WEIR__TOP_PROCESSORS], "events_per_s");
    /* The newest first. */
    state->orders[WEIR__TOP_LETTERS].column =
        weir__top_column_find(&weir__top_tables[WEIR__TOP_LETTERS], "number");
}

uint32_t weir__top_state_table(const weir__top_state *state)
{
    return table_of[state->view];
}

/* Also to "as they come", which is before the first. */
static void step_column(weir__top_state *state, int step)
{
    const uint32_t table = weir__top_state_table(state);
    weir__top_order *order = &state->orders[table];
    const int count = (int)weir__top_tables[table].count;
    order->column += step;
    if (order->column < -1) {
        order->column = count - 1;
    } else if (order->column >= count) {
        order->column = -1;
    }
    order->reverse = false;
    state->scroll[state->view] = 0;
}

static void type_filter(weir__top_state *state, weir__key key)
{
    const size_t length = strlen(state->filter);
    if (key == '\n' || key == '\r') {
        state->typing = false;
    } else if (key == WEIR__KEY_ESCAPE) {
        state->typing = false;
        state->filter[0] = '\0';
    } else if (key == 127 || key == '\b') {
        /* A character is all of its bytes. */
        size_t end = length;
        while (end > 0 && ((unsigned char)state->filter[--end] & 0xc0) == 0x80) {
        }
        state->filter[end] = '\0';
    } else if (key >= ' ' && key < 256 && length < WEIR__TOP_FILTER_MAX) {
        state->filter[length] = (char)key;
        state->filter[length + 1] = '\0';
    }
    memset(state->scroll, 0, sizeof(state->scroll));
}

static void scroll(weir__top_state *state, weir__key key, size_t page)
{
    size_t *at = &state->scroll[state->view];
    if (key == WEIR__KEY_HOME || key == 'g') {
        *at = 0;
    } else if (key == WEIR__KEY_END || key == 'G') {
        *at = SIZE_MAX / 2; /* the page brings it down to what there is */
    } else if (key == WEIR__KEY_UP || key == 'k') {
        *at -= *at > 0 ? 1 : 0;
    } else if (key == WEIR__KEY_DOWN || key == 'j') {
        *at += 1;
    } else if (key == WEIR__KEY_PAGE_UP) {
        *at -= *at > page ? page : *at;
    } else if (key == WEIR__KEY_PAGE_DOWN) {
        *at += page;
    }
}

void weir__top_state_key(weir__top_state *state, weir__key key, size_t page)
{
    if (key == WEIR__KEY_END_ALL) {
        state->ended = true;
        return;
    }
    if (state->typing) {
        type_filter(state, key);
        return;
    }
    if (key >= '1' && key < '1' + WEIR__TOP_VIEWS) {
        state->view = (uint32_t)(key - '1');
        state->help = false;
        return;
    }
    switch (key) {
    case 'q':
        state->ended = true;
        break;
    case '\t':
        state->view = (state->view + 1) % WEIR__TOP_VIEWS;
        break;
    case WEIR__KEY_BACK_TAB:
        state->view = (state->view + WEIR__TOP_VIEWS - 1) % WEIR__TOP_VIEWS;
        break;
    case 's':
    case '>':
    case WEIR__KEY_RIGHT:
        step_column(state, 1);
        break;
    case '<':
    case WEIR__KEY_LEFT:
        step_column(state, -1);
        break;
    case 'r':
        state->orders[weir__top_state_table(state)].reverse ^= true;
        break;
    case '/':
        state->typing = true;
        state->help = false;
        break;
    case WEIR__KEY_ESCAPE:
        state->filter[0] = '\0';
        state->help = false;
        break;
    case 'p':
    case ' ':
        state->paused = !state->paused;
        break;
    case '?':
    case 'h':
        state->help = !state->help;
        break;
    default:
        scroll(state, key, page > 0 ? page : 1);
        break;
    }
}
