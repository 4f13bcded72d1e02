/*
 * cli/demo_summary.c - the end of `weir demo`, for people: what each dispatcher did, where every
 * accepted event went, and whether the sums prove it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "cli/demo_show.h"

static void print_dispatchers(FILE *out, const weir__demo_figures *figures)
{
    fprintf(out, "  %-10s %7s %11s %10s %10s %8s %7s %7s\n", "dispatcher", "threads", "handled",
            "events/s", "contention", "back-off", "p50", "p99");
    for (uint32_t i = 0; i < WEIR__DEMO_DISPATCHERS; i++) {
        const weir__demo_dispatcher_figures *d = &figures->dispatchers[i];
        fprintf(out, "  %-10s %7" PRIu64 " %11s %10s %10s %8s %7s %7s\n",
                d->name[0] != '\0' ? d->name : "\"\"", d->threads,
                weir__demo_text_count(d->handled).text, weir__demo_text_rate(d->events_per_s).text,
                weir__demo_text_share(d->contention).text, weir__demo_text_share(d->backoff).text,
                weir__demo_text_time(d->p50_ns).text, weir__demo_text_time(d->p99_ns).text);
    }
}

static void print_sum(FILE *out, const char *name, uint64_t count, const char *meaning)
{
    fprintf(out, "  %-10s %14s   %s\n", name, weir__demo_text_count(count).text, meaning);
}

static void print_sums(FILE *out, const weir_counters *sums)
{
    char dropped[128];
    snprintf(dropped, sizeof(dropped), "by policy: %s drop-oldest, %s drop-newest",
             weir__demo_text_count(sums->dropped_oldest).text,
             weir__demo_text_count(sums->dropped_newest).text);
    print_sum(out, "accepted", sums->accepted, "events that a mailbox took");
    print_sum(out, "handled", sums->handled, "exactly once each");
    print_sum(out, "dropped", sums->dropped, dropped);
    print_sum(out, "dead", sums->dead, "the handler said that it failed");
    print_sum(out, "left", sums->left, "not handled when the stop ended");
    const uint64_t refused =
        sums->refused_full + sums->refused_stopping + sums->refused_unknown + sums->refused_other;
    if (refused > 0) {
        print_sum(out, "refused", refused, "never accepted: the mailbox was full");
    }
}

static void print_verdict(FILE *out, const weir__terminal *terminal, const weir_counters *sums,
                          const char *wrong)
{
    const weir__tone tone = wrong == NULL ? WEIR__TONE_GOOD : WEIR__TONE_BAD;
    const char *sign =
        wrong == NULL ? (terminal->utf8 ? "✓" : "OK") : (terminal->utf8 ? "✗" : "WRONG");
    fprintf(out, "  accepted = handled + dropped + dead + left\n");
    fprintf(out, "  %s = %s + %s + %s + %s   %s%s%s\n", weir__demo_text_count(sums->accepted).text,
            weir__demo_text_count(sums->handled).text, weir__demo_text_count(sums->dropped).text,
            weir__demo_text_count(sums->dead).text, weir__demo_text_count(sums->left).text,
            weir__terminal_begin(terminal, tone), sign, weir__terminal_end(terminal, tone));
}

static void print_time_and_place(FILE *out, const weir__demo_look *last)
{
    fprintf(out, "  timers: %s events, %s times missed; late by p50 %s, p99 %s\n",
            weir__demo_text_count(last->timers.posted).text,
            weir__demo_text_count(last->timers.missed).text,
            weir__demo_text_time((uint64_t)last->timers.late_p50).text,
            weir__demo_text_time((uint64_t)last->timers.late_p99).text);
    fprintf(out, "  moves:  store-0 went to another dispatcher and back under load, %s moves\n",
            weir__demo_text_count(last->moves).text);
}

void weir__demo_summary_print(FILE *out, const weir__terminal *terminal,
                              const weir__demo_figures *figures, const weir__demo_look *last,
                              const char *wrong)
{
    fprintf(out, "%sweir demo%s: %.1f s on %" PRIu32 " threads, %s events/s\n\n",
            weir__terminal_begin(terminal, WEIR__TONE_STRONG),
            weir__terminal_end(terminal, WEIR__TONE_STRONG), figures->seconds,
            figures->thread_count, weir__demo_text_rate(figures->events_per_s).text);
    print_dispatchers(out, figures);
    fputc('\n', out);
    print_time_and_place(out, last);
    fputc('\n', out);
    print_sums(out, &last->engine);
    fputc('\n', out);
    print_verdict(out, terminal, &last->engine, wrong);
    if (wrong == NULL) {
        fputs("  The demo's own count of its posts and of its handlers' runs says the same.\n",
              out);
    }
}
