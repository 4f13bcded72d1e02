/*
 * cli/demo_table.c - the live table of `weir demo`.
 *
 * A frame is composed in memory and written in one call, so that the screen never shows half of
 * one. It begins by moving up over the frame before it; every line clears what is left of the old
 * one; wrapping is off meanwhile, so that a narrow terminal cuts lines and the count stays right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "cli/demo_show.h"

#define UP_TO_COLUMN_ONE "\033[%uF"
#define CLEAR_REST_OF_LINE "\033[K"
#define CLEAR_BELOW "\033[J"
#define WRAP_OFF "\033[?7l"
#define WRAP_ON "\033[?7h"

enum { BAR_WIDTH = 20, LINES_AROUND_THREADS = 12 };

struct frame {
    FILE *out;
    const weir__terminal *terminal;
    uint32_t lines;
};

static void end_line(struct frame *frame)
{
    fputs(CLEAR_REST_OF_LINE "\n", frame->out);
    frame->lines++;
}

/* Text of a tone, right-aligned: the escape sequences must not count as width. */
static void put_right(struct frame *frame, weir__tone tone, int width, const char *text)
{
    fprintf(frame->out, "%s%*s%s", weir__terminal_begin(frame->terminal, tone), width, text,
            weir__terminal_end(frame->terminal, tone));
}

static const char *shown_name(const char *dispatcher)
{
    return dispatcher[0] != '\0' ? dispatcher : "\"\"";
}

static void put_dispatcher(struct frame *frame, const weir__demo_dispatcher_figures *d)
{
    fprintf(frame->out, "  %-10s", shown_name(d->name));
    put_right(frame, WEIR__TONE_PLAIN, 12, weir__demo_text_rate(d->events_per_s).text);
    put_right(frame, WEIR__TONE_PLAIN, 9, weir__demo_text_count(d->depth).text);
    put_right(frame, weir__demo_tone_contention(d->contention), 12,
              weir__demo_text_share(d->contention).text);
    put_right(frame, weir__demo_tone_backoff(d->backoff), 10,
              weir__demo_text_share(d->backoff).text);
    put_right(frame, WEIR__TONE_PLAIN, 11, weir__demo_text_time(d->p50_ns).text);
    put_right(frame, WEIR__TONE_PLAIN, 11, weir__demo_text_time(d->p99_ns).text);
    end_line(frame);
}

static void put_head(struct frame *frame, const char *text)
{
    fprintf(frame->out, "%s%s%s", weir__terminal_begin(frame->terminal, WEIR__TONE_FAINT), text,
            weir__terminal_end(frame->terminal, WEIR__TONE_FAINT));
    end_line(frame);
}

static void put_bar(struct frame *frame, double share)
{
    const char *full = frame->terminal->utf8 ? "█" : "#";
    const char *empty = frame->terminal->utf8 ? "░" : ".";
    for (int cell = 0; cell < BAR_WIDTH; cell++) {
        fputs(cell < (int)(share * BAR_WIDTH + 0.5) ? full : empty, frame->out);
    }
}

static void put_thread(struct frame *frame, const weir__demo_thread_figures *t, uint32_t i)
{
    fprintf(frame->out, "  weir-%-5u", i);
    put_right(frame, WEIR__TONE_PLAIN, 12, weir__demo_text_rate(t->events_per_s).text);
    const bool known = t->utilisation >= 0;
    put_right(frame, WEIR__TONE_PLAIN, 9, known ? weir__demo_text_share(t->utilisation).text : "-");
    fputs("  ", frame->out);
    put_bar(frame, known ? t->utilisation : 0);
    for (const char *const *name = t->dispatchers; *name != NULL; name++) {
        fprintf(frame->out, "%s%s", name == t->dispatchers ? "  " : ", ", shown_name(*name));
    }
    end_line(frame);
}

static void put_sums(struct frame *frame, const weir_counters *sums)
{
    fprintf(frame->out, "  accepted %s   handled %s   dropped %s   dead %s",
            weir__demo_text_count(sums->accepted).text, weir__demo_text_count(sums->handled).text,
            weir__demo_text_count(sums->dropped).text, weir__demo_text_count(sums->dead).text);
    end_line(frame);
}

static void put_frame(struct frame *frame, const weir__demo_figures *figures, double seconds_gone,
                      double seconds_all)
{
    fprintf(frame->out, "%sweir demo%s   %.1f of %.1f s   %s events/s",
            weir__terminal_begin(frame->terminal, WEIR__TONE_STRONG),
            weir__terminal_end(frame->terminal, WEIR__TONE_STRONG), seconds_gone, seconds_all,
            weir__demo_text_rate(figures->events_per_s).text);
    end_line(frame);
    end_line(frame);
    put_head(frame,
             "  dispatcher    events/s    depth  contention  back-off        p50        p99");
    for (uint32_t i = 0; i < WEIR__DEMO_DISPATCHERS; i++) {
        put_dispatcher(frame, &figures->dispatchers[i]);
    }
    end_line(frame);

    /* What does not fit on the screen could not be moved up over again. */
    const uint32_t height = weir__terminal_height();
    const uint32_t room = height > LINES_AROUND_THREADS ? height - LINES_AROUND_THREADS : 0;
    if (room > 0) {
        put_head(frame, "  thread        events/s      CPU                        serves");
    }
    for (uint32_t i = 0; i < figures->thread_count && i < room; i++) {
        if (figures->threads[i].known) {
            put_thread(frame, &figures->threads[i], i);
        }
    }
    end_line(frame);
    put_sums(frame, &figures->totals);
}

/* Moves up over the frame that is there, if any. */
static void begin_frame(FILE *out, const weir__demo_table *table)
{
    if (table->lines > 0) {
        fprintf(out, UP_TO_COLUMN_ONE, table->lines);
    }
}

void weir__demo_table_draw(weir__demo_table *table, const weir__demo_figures *figures,
                           double seconds_gone, double seconds_all)
{
    char *memory = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&memory, &size);
    if (out == NULL) {
        return; /* no memory for a frame: the next one may have it, and the demo goes on */
    }
    struct frame frame = { out, &table->terminal, 0 };
    fputs(WRAP_OFF, out);
    begin_frame(out, table);
    put_frame(&frame, figures, seconds_gone, seconds_all);
    fputs(CLEAR_BELOW WRAP_ON, out);
    if (fclose(out) == 0) {
        fwrite(memory, 1, size, stdout);
        fflush(stdout);
        table->lines = frame.lines;
    }
    free(memory);
}

void weir__demo_table_erase(weir__demo_table *table)
{
    begin_frame(stdout, table);
    if (table->lines > 0) {
        fputs(CLEAR_BELOW, stdout);
        fflush(stdout);
    }
    table->lines = 0;
}
