/*
 * cli/run_show.c - see run_show.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run_show.h"

#include <inttypes.h>
#include <string.h>

#include "cli/demo_show.h"

enum { LINES_AROUND = 6 };

static const char *const kind_names[] = { "", "source", "service", "sink", "processor" };

static const char *kind_name(weir_kind kind)
{
    return (unsigned)kind < sizeof(kind_names) / sizeof(kind_names[0]) ? kind_names[kind] : "";
}

/* What counts of it: a source publishes, the others handle. */
static uint64_t done(const weir__component_figures *f)
{
    return f->has_feed ? f->published : f->handled;
}

static uint64_t lost(const weir__component_figures *f)
{
    return f->dropped + f->dropped_feed;
}

static const weir__component_figures *find(const weir__run_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->count; i++) {
        if (strcmp(figures->items[i].name, name) == 0) {
            return &figures->items[i];
        }
    }
    return NULL;
}

static void put_component(weir__frame *frame, const weir__run_figures *before,
                          const weir__run_figures *now, const weir__component_figures *f)
{
    const weir__component_figures *was = find(before, f->name);
    const double seconds = (double)(now->time - before->time) / 1e9;
    const uint64_t more = was != NULL && done(f) >= done(was) ? done(f) - done(was) : 0;
    fprintf(frame->out, "  %-20.20s %-10.10s", f->name, kind_name(f->kind));
    weir__frame_right(frame, WEIR__TONE_PLAIN, 12,
                      weir__demo_text_rate(seconds > 0 ? (double)more / seconds : 0).text);
    weir__frame_right(frame, WEIR__TONE_PLAIN, 16, weir__demo_text_count(done(f)).text);
    weir__frame_right(frame, WEIR__TONE_PLAIN, 10, weir__demo_text_count(f->depth).text);
    weir__frame_right(frame, lost(f) > 0 ? WEIR__TONE_FAIR : WEIR__TONE_PLAIN, 10,
                      weir__demo_text_count(lost(f)).text);
    weir__frame_right(frame, f->dead + f->failures > 0 ? WEIR__TONE_BAD : WEIR__TONE_PLAIN, 8,
                      weir__demo_text_count(f->dead + f->failures).text);
    weir__frame_line(frame);
}

void weir__run_table_draw(weir__screen *screen, const weir__run_figures *before,
                          const weir__run_figures *now, double seconds)
{
    weir__frame frame;
    if (!weir__frame_begin(&frame, screen)) {
        return;
    }
    fprintf(frame.out, "%sweir run%s   %.1f s   Ctrl-C ends it",
            weir__terminal_begin(frame.terminal, WEIR__TONE_STRONG),
            weir__terminal_end(frame.terminal, WEIR__TONE_STRONG), seconds);
    weir__frame_line(&frame);
    weir__frame_line(&frame);
    weir__frame_head(&frame,
                     "  component            kind           events/s          events   waiting"
                     "   dropped  failed");
    /* What does not fit on the screen could not be moved up over again. */
    const uint32_t height = weir__terminal_height();
    const uint32_t room = height > LINES_AROUND ? height - LINES_AROUND : 1;
    for (size_t i = 0; i < now->count && i < room; i++) {
        put_component(&frame, before, now, &now->items[i]);
    }
    if (now->count > room) {
        fprintf(frame.out, "  and %zu more", now->count - room);
        weir__frame_line(&frame);
    }
    weir__frame_show(&frame);
}

/* ---- the end ---- */

void weir__run_sums_print(FILE *out, const weir__run_figures *figures,
                          const weir__life_result *result)
{
    const weir_stop_report *r = &result->report;
    fprintf(out, "  %-20s %-10s %15s %15s %10s %8s\n", "component", "kind", "published", "handled",
            "dropped", "failed");
    for (size_t i = 0; i < figures->count; i++) {
        const weir__component_figures *f = &figures->items[i];
        fprintf(out, "  %-20s %-10s %15s %15s %10s %8s\n", f->name, kind_name(f->kind),
                f->has_feed ? weir__demo_text_count(f->published).text : "-",
                f->has_handler ? weir__demo_text_count(f->handled).text : "-",
                weir__demo_text_count(lost(f)).text,
                weir__demo_text_count(f->dead + f->failures).text);
    }
    fprintf(out, "\n  %s accepted = %s handled + %s dropped + %s dead + %s left\n",
            weir__demo_text_count(r->accepted).text, weir__demo_text_count(r->handled).text,
            weir__demo_text_count(r->dropped).text, weir__demo_text_count(r->dead).text,
            weir__demo_text_count(r->left).text);
}

/* Names are letters, digits, - and _ (and / of an instance), types what a plugin says. */
static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fprintf(out, "\\%c", *text);
        } else if ((unsigned char)*text < 0x20) {
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        } else {
            fputc(*text, out);
        }
    }
    fputc('"', out);
}

static void print_component(FILE *out, const weir__component_figures *f)
{
    fputs("{\"name\":", out);
    print_text(out, f->name);
    fputs(",\"type\":", out);
    print_text(out, f->type);
    fprintf(out, ",\"kind\":\"%s\"", kind_name(f->kind));
    if (f->has_feed) {
        fprintf(out,
                ",\"published\":%" PRIu64 ",\"dropped_by_feed\":%" PRIu64 ",\"waits\":%" PRIu64,
                f->published, f->dropped_feed, f->waits);
    }
    if (f->has_handler) {
        fprintf(out,
                ",\"accepted\":%" PRIu64 ",\"handled\":%" PRIu64 ",\"dropped\":%" PRIu64
                ",\"dead\":%" PRIu64 ",\"left\":%" PRIu64,
                f->accepted, f->handled, f->dropped, f->dead, f->left);
    }
    fprintf(out, ",\"failures\":%" PRIu64 "}", f->failures);
}

void weir__run_json_print(FILE *out, const weir__run_figures *figures,
                          const weir__life_result *result)
{
    static const char *const ends[] = { [WEIR__LIFE_ENDED] = "stopped",
                                        [WEIR__LIFE_NOT_BEGUN] = "not started",
                                        [WEIR__LIFE_TIMEOUT] = "timeout",
                                        [WEIR__LIFE_CUT_SHORT] = "cut short" };
    const weir_stop_report *r = &result->report;
    fprintf(out,
            "{\"end\":\"%s\",\"seconds\":%.3f,\"accepted\":%" PRIu64 ",\"handled\":%" PRIu64
            ",\"dropped\":%" PRIu64 ",\"dead\":%" PRIu64 ",\"left\":%" PRIu64 ",\"components\":[",
            ends[result->end], (double)result->ran / 1e9, r->accepted, r->handled, r->dropped,
            r->dead, r->left);
    for (size_t i = 0; i < figures->count; i++) {
        fputs(i > 0 ? "," : "", out);
        print_component(out, &figures->items[i]);
    }
    fputs("]}\n", out);
}
