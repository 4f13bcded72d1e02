/*
 * cli/demo_table.c - the live table of `weir demo`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/demo_show.h"

enum { BAR_WIDTH = 20, LINES_AROUND_THREADS = 12 };

static const char *shown_name(const char *dispatcher)
{
    return dispatcher[0] != '\0' ? dispatcher : "\"\"";
}

static void put_dispatcher(weir__frame *frame, const weir__demo_dispatcher_figures *d)
{
    fprintf(frame->out, "  %-10s", shown_name(d->name));
    weir__frame_right(frame, WEIR__TONE_PLAIN, 12, weir__demo_text_rate(d->events_per_s).text);
    weir__frame_right(frame, WEIR__TONE_PLAIN, 9, weir__demo_text_count(d->depth).text);
    weir__frame_right(frame, weir__demo_tone_contention(d->contention), 12,
                      weir__demo_text_share(d->contention).text);
    weir__frame_right(frame, weir__demo_tone_backoff(d->backoff), 10,
                      weir__demo_text_share(d->backoff).text);
    weir__frame_right(frame, WEIR__TONE_PLAIN, 11, weir__demo_text_time(d->p50_ns).text);
    weir__frame_right(frame, WEIR__TONE_PLAIN, 11, weir__demo_text_time(d->p99_ns).text);
    weir__frame_line(frame);
}

static void put_bar(weir__frame *frame, double share)
{
    const char *full = frame->terminal->utf8 ? "█" : "#";
    const char *empty = frame->terminal->utf8 ? "░" : ".";
    for (int cell = 0; cell < BAR_WIDTH; cell++) {
        fputs(cell < (int)(share * BAR_WIDTH + 0.5) ? full : empty, frame->out);
    }
}

static void put_thread(weir__frame *frame, const weir__demo_thread_figures *t, uint32_t i)
{
    fprintf(frame->out, "  weir-%-5u", i);
    weir__frame_right(frame, WEIR__TONE_PLAIN, 12, weir__demo_text_rate(t->events_per_s).text);
    const bool known = t->utilisation >= 0;
    weir__frame_right(frame, WEIR__TONE_PLAIN, 9,
                      known ? weir__demo_text_share(t->utilisation).text : "-");
    fputs("  ", frame->out);
    put_bar(frame, known ? t->utilisation : 0);
    for (const char *const *name = t->dispatchers; *name != NULL; name++) {
        fprintf(frame->out, "%s%s", name == t->dispatchers ? "  " : ", ", shown_name(*name));
    }
    weir__frame_line(frame);
}

static void put_sums(weir__frame *frame, const weir_counters *sums)
{
    fprintf(frame->out, "  accepted %s   handled %s   dropped %s   dead %s",
            weir__demo_text_count(sums->accepted).text, weir__demo_text_count(sums->handled).text,
            weir__demo_text_count(sums->dropped).text, weir__demo_text_count(sums->dead).text);
    weir__frame_line(frame);
}

static void put_frame(weir__frame *frame, const weir__demo_figures *figures, double seconds_gone,
                      double seconds_all)
{
    fprintf(frame->out, "%sweir demo%s   %.1f of %.1f s   %s events/s",
            weir__terminal_begin(frame->terminal, WEIR__TONE_STRONG),
            weir__terminal_end(frame->terminal, WEIR__TONE_STRONG), seconds_gone, seconds_all,
            weir__demo_text_rate(figures->events_per_s).text);
    weir__frame_line(frame);
    weir__frame_line(frame);
    weir__frame_head(
        frame, "  dispatcher    events/s    depth  contention  back-off        p50        p99");
    for (uint32_t i = 0; i < WEIR__DEMO_DISPATCHERS; i++) {
        put_dispatcher(frame, &figures->dispatchers[i]);
    }
    weir__frame_line(frame);

    /* What does not fit on the screen could not be moved up over again. */
    const uint32_t height = weir__terminal_height();
    const uint32_t room = height > LINES_AROUND_THREADS ? height - LINES_AROUND_THREADS : 0;
    if (room > 0) {
        weir__frame_head(frame, "  thread        events/s      CPU                        serves");
    }
    for (uint32_t i = 0; i < figures->thread_count && i < room; i++) {
        if (figures->threads[i].known) {
            put_thread(frame, &figures->threads[i], i);
        }
    }
    weir__frame_line(frame);
    put_sums(frame, &figures->totals);
}

void weir__demo_table_draw(weir__screen *screen, const weir__demo_figures *figures,
                           double seconds_gone, double seconds_all)
{
    weir__frame frame;
    if (weir__frame_begin(&frame, screen)) {
        put_frame(&frame, figures, seconds_gone, seconds_all);
        weir__frame_show(&frame);
    }
}
