/*
 * cli/top_read.c - figures from two looks at a server.
 *
 * Counters are totals. One that fell began anew (a processor that was replaced by one of its name),
 * so what it has now is what came since. An engine that began anew has no earlier look.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top.h"

/* Of one section: the rows of now, and those before by their names. */
typedef struct section {
    json_t *now;
    json_t *index; /* an object, or NULL */
    double seconds;
    bool capped; /* the earlier look had not all of them */
} section;

/* A row and what it was. */
typedef struct pair {
    const json_t *now, *before; /* before may be NULL */
    double seconds;
    bool unknown; /* what it was is not known: no rates */
} pair;

/* ---- values ---- */

static double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));
    return value != NULL ? value : "";
}

static double grown(const pair *p, const char *key)
{
    const double now = number(p->now, key);
    const double before = p->before != NULL ? number(p->before, key) : 0;
    if (p->unknown || isnan(before)) {
        return NAN;
    }
    return now >= before ? now - before : now;
}

static double rate(const pair *p, const char *key)
{
    return grown(p, key) / p->seconds;
}

/* Of two that grew; NAN if nothing did. */
static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static double at_most(double value, double most)
{
    return value > most ? most : value;
}

static double sum(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static weir__top_latency latency(const json_t *row, const char *key)
{
    const json_t *of = json_object_get(row, key);
    weir__top_latency l = { number(of, "count"), number(of, "p50_ns"), number(of, "p95_ns"),
                            number(of, "p99_ns"), number(of, "max_ns") };
    if (l.count == 0) { /* nothing was measured: 0 would look like very fast */
        l.p50 = l.p95 = l.p99 = l.max = NAN;
    }
    return l;
}

/* Of a router: 0 if nothing was measured. */
static double time_of(const json_t *row, const char *key)
{
    const double ns = number(row, key);
    return ns > 0 ? ns : NAN;
}

/* ---- sections ---- */

static section section_open(const json_t *before, const json_t *now, const char *key,
                            const char *name, double seconds)
{
    section s = { .now = json_object_get(now, key), .seconds = seconds };
    const json_t *old = json_object_get(before, key);
    size_t i;
    json_t *row;
    if (!json_is_array(old)) {
        return s;
    }
    s.index = json_object();
    json_array_foreach(old, i, row)
    {
        /* Of no memory it has no earlier look: wrong once, then right again. */
        (void)json_object_set(s.index, text(row, name), row);
    }
    return s;
}

static pair section_pair(const section *s, size_t i, const char *name)
{
    pair p = { .now = json_array_get(s->now, i), .seconds = s->seconds };
    p.before = json_object_get(s->index, text(p.now, name));
    /* Among the busiest only now: since when it had what it has is not known. And "(earlier)" leaps
     * by what somebody had. */
    p.unknown = (s->capped && p.before == NULL) || strcmp(text(p.now, name), "(earlier)") == 0;
    return p;
}

static void *rows_open(weir__top_rows *rows, size_t count, size_t size)
{
    rows->items = count > 0 ? calloc(count, size) : NULL;
    rows->count = rows->items != NULL ? count : 0;
    return rows->items;
}

/* ---- rows ---- */

static void read_dispatcher(void *row, const pair *p)
{
    weir__top_dispatcher *d = row;
    *d = (weir__top_dispatcher){
        .name = text(p->now, "dispatcher"),
        .processors = number(p->now, "processors"),
        .threads = number(p->now, "threads"),
        .ready = number(p->now, "ready"),
        .depth = number(p->now, "depth"),
        .events_per_s = rate(p, "handled"),
        .turns_per_s = rate(p, "turns"),
        .contention = share(grown(p, "try_locks_failed"), grown(p, "try_locks")),
        .backoff = share(grown(p, "backoffs"), grown(p, "rounds")),
        .signals = grown(p, "signals"),
        .wakeups = grown(p, "wakeups"),
        .queueing = latency(p->now, "queueing"),
        .handling = latency(p->now, "handling"),
    };
    /* The counters are not read at one moment. */
    d->woke = at_most(share(d->wakeups, d->signals), 1);
    d->found = at_most(share(grown(p, "wakeups_found"), d->wakeups), 1);
    d->tail = share(d->queueing.p99, d->queueing.p50);
}

static void read_thread(void *row, const pair *p)
{
    *(weir__top_thread *)row = (weir__top_thread){
        .name = text(p->now, "thread"),
        .serves = text(p->now, "dispatchers"),
        .idle = text(p->now, "idle"),
        .utilisation = at_most(share(grown(p, "busy_ns"), grown(p, "alive_ns")), 1),
        .cpu = rate(p, "cpu_ns") / 1e9,
        .core = number(p->now, "core"),
        .core_now = number(p->now, "core_now"),
        .events_per_s = rate(p, "handled"),
        .parks_per_s = rate(p, "parks"),
        .system_id = number(p->now, "system_id"),
        .handling = latency(p->now, "handling"),
        .waits = latency(p->now, "waits"),
    };
}

static void read_processor(void *row, const pair *p)
{
    weir__top_processor *out = row;
    *out = (weir__top_processor){
        .name = text(p->now, "processor"),
        .dispatcher = text(p->now, "dispatcher"),
        .component = text(p->now, "component"),
        .events_per_s = rate(p, "handled"),
        .depth = number(p->now, "depth"),
        .depth_high = number(p->now, "depth_high"),
        .mailbox_max = number(p->now, "mailbox_max"),
        .dropped = number(p->now, "dropped"),
        .dropped_per_s = rate(p, "dropped"),
        .dropped_newest = number(p->now, "dropped_newest"),
        .dropped_oldest = number(p->now, "dropped_oldest"),
        .dead = number(p->now, "dead"),
        .failures = number(p->now, "failures"),
        .restarts = number(p->now, "restarts"),
        .queueing = latency(p->now, "queueing"),
        .handling = latency(p->now, "handling"),
    };
    out->fill = share(out->depth, out->mailbox_max);
    out->tail = share(out->handling.p99, out->handling.p50);
}

static void read_feed(void *row, const pair *p)
{
    weir__top_feed *f = row;
    *f = (weir__top_feed){
        .name = text(p->now, "feed"),
        .slowest = text(p->now, "slowest"),
        .events_per_s = rate(p, "published"),
        .delivered_per_s = rate(p, "delivered"),
        .dropped = number(p->now, "dropped"),
        .dropped_per_s = rate(p, "dropped"),
        .filtered = number(p->now, "filtered"),
        .failed = number(p->now, "failed"),
        .waits_per_s = rate(p, "waits"),
        .waiting = rate(p, "waited_ns") / 1e9,
        .subscribers = number(p->now, "subscribers"),
        .deepest = number(p->now, "deepest"),
        .queue_max = number(p->now, "queue_max"),
        .outstanding = number(p->now, "outstanding"),
    };
    f->fill = share(f->deepest, f->queue_max);
}

static void read_router(void *row, const pair *p)
{
    *(weir__top_router *)row = (weir__top_router){
        .name = text(p->now, "router"),
        .submitted_per_s = rate(p, "submitted"),
        .handled_per_s = rate(p, "handled"),
        .depth = number(p->now, "depth"),
        .flows = number(p->now, "flows"),
        .workers = number(p->now, "workers"),
        .imbalance = number(p->now, "imbalance"),
        .refused = sum(number(p->now, "refused_full"),
                       sum(number(p->now, "refused_ingress"), number(p->now, "refused_flows"))),
        .dropped = sum(number(p->now, "dropped_newest"), number(p->now, "dropped_oldest")),
        .dead = number(p->now, "dead"),
        .moved = number(p->now, "moved"),
        .bytes = number(p->now, "bytes"),
        .p50 = time_of(p->now, "p50_ns"),
        .p99 = time_of(p->now, "p99_ns"),
    };
}

static void read_worker(weir__top_worker *out, const pair *p, const char *router)
{
    *out = (weir__top_worker){
        .name = text(p->now, "processor"),
        .router = router,
        .events_per_s = rate(p, "handled"),
        .depth = number(p->now, "depth"),
        .beyond = number(p->now, "beyond"),
        .busy = at_most(rate(p, "busy_ns") / 1e9, 1),
        .flows = number(p->now, "flows"),
        .p50 = time_of(p->now, "p50_ns"),
        .p99 = time_of(p->now, "p99_ns"),
    };
}

static void read_letter(void *row, const pair *p)
{
    *(weir__top_letter *)row = (weir__top_letter){
        .reason = text(p->now, "reason"),
        .status = text(p->now, "status"),
        .sender = text(p->now, "sender"),
        .receiver = text(p->now, "receiver"),
        .type = text(p->now, "type"),
        .time = text(p->now, "time"),
        .text = text(p->now, "text"),
        .number = number(p->now, "number"),
        .size = number(p->now, "size"),
    };
}

static void read_reason(void *row, const pair *p)
{
    *(weir__top_reason *)row =
        (weir__top_reason){ text(p->now, "what"), text(p->now, "status"), text(p->now, "reason") };
}

static void read_error(void *row, const pair *p)
{
    *(weir__top_error *)row = (weir__top_error){ text(p->now, "component"), text(p->now, "time"),
                                                 text(p->now, "status"), text(p->now, "text") };
}

static const struct {
    const char *key, *name;
    void (*read)(void *row, const pair *p);
} sections[WEIR__TOP_TABLES] = {
    [WEIR__TOP_DISPATCHERS] = { "dispatchers", "dispatcher", read_dispatcher },
    [WEIR__TOP_THREADS] = { "threads", "thread", read_thread },
    [WEIR__TOP_PROCESSORS] = { "processors", "processor", read_processor },
    [WEIR__TOP_FEEDS] = { "feeds", "feed", read_feed },
    [WEIR__TOP_ROUTERS] = { "routers", "router", read_router },
    [WEIR__TOP_LETTERS] = { "dead_letters", "", read_letter },
    [WEIR__TOP_ERRORS] = { "errors", "", read_error },
};

/* ---- the whole ---- */

static void read_section(weir__top_figures *f, const json_t *before, uint32_t table)
{
    const char *name = sections[table].name;
    section s = section_open(before, f->document, sections[table].key, name, f->seconds);
    const size_t size = weir__top_tables[table].row_size;
    char *rows = rows_open(&f->rows[table], json_array_size(s.now), size);
    s.capped = table == WEIR__TOP_PROCESSORS && before != NULL &&
               number(before, "processors_shown") < number(before, "processors_total");
    for (size_t i = 0; i < f->rows[table].count; i++) {
        const pair p = section_pair(&s, i, name);
        sections[table].read(rows + i * size, &p);
    }
    json_decref(s.index);
}

static void read_workers(weir__top_figures *f, const json_t *before)
{
    const section routers = section_open(before, f->document, "routers", "router", f->seconds);
    const size_t router_count = json_array_size(routers.now);
    size_t count = 0;
    for (size_t r = 0; r < router_count; r++) {
        count += json_array_size(json_object_get(json_array_get(routers.now, r), "worker"));
    }
    weir__top_worker *rows = rows_open(&f->rows[WEIR__TOP_WORKERS], count, sizeof(*rows));
    size_t at = 0;
    for (size_t r = 0; rows != NULL && r < router_count; r++) {
        const pair router = section_pair(&routers, r, "router");
        const section s =
            section_open(router.before, router.now, "worker", "processor", f->seconds);
        for (size_t i = 0; i < json_array_size(s.now); i++) {
            const pair p = section_pair(&s, i, "processor");
            read_worker(&rows[at++], &p, text(router.now, "router"));
        }
        json_decref(s.index);
    }
    json_decref(routers.index);
}

static void read_health(weir__top_figures *f)
{
    const json_t *health = json_object_get(f->document, "health");
    const json_t *reasons = json_object_get(health, "reasons");
    weir__top_reason *rows =
        rows_open(&f->rows[WEIR__TOP_HEALTH], json_array_size(reasons), sizeof(*rows));
    f->status = text(health, "status");
    for (size_t i = 0; i < f->rows[WEIR__TOP_HEALTH].count; i++) {
        const pair p = { .now = json_array_get(reasons, i) };
        read_reason(&rows[i], &p);
    }
}

/* Name and labels: only together do they name one. */
static const char *own_key(const json_t *row, char *out, size_t size)
{
    (void)snprintf(out, size, "%s{%s}", text(row, "name"), text(row, "labels"));
    return out;
}

static void read_own(weir__top_figures *f, const json_t *before)
{
    const json_t *now = json_object_get(f->document, "own");
    weir__top_own *rows = rows_open(&f->rows[WEIR__TOP_OWN], json_array_size(now), sizeof(*rows));
    json_t *index = json_object();
    char key[1536];
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(before, "own"), i, row)
    {
        (void)json_object_set(index, own_key(row, key, sizeof(key)), row);
    }
    for (i = 0; i < f->rows[WEIR__TOP_OWN].count; i++) {
        row = json_array_get(now, i);
        const pair p = { .now = row,
                         .before = json_object_get(index, own_key(row, key, sizeof(key))),
                         .seconds = f->seconds };
        const char *kind = text(row, "kind");
        rows[i] =
            (weir__top_own){ .name = text(row, "name"),
                             .labels = text(row, "labels"),
                             .kind = kind,
                             .value = number(row, "value"),
                             .per_s = strcmp(kind, "counter") == 0 ? rate(&p, "value") : NAN };
    }
    json_decref(index);
}

static void read_engine(weir__top_figures *f, const json_t *before)
{
    static const char *const refusals[] = { "refused_full", "refused_stopping", "refused_unknown",
                                            "refused_other" };
    const pair e = { json_object_get(f->document, "engine"), json_object_get(before, "engine"),
                     f->seconds, false };
    const pair p = { json_object_get(f->document, "process"), json_object_get(before, "process"),
                     f->seconds, false };
    f->version = text(f->document, "weir");
    f->name = text(e.now, "name");
    f->phase = text(e.now, "phase");
    f->uptime_ns = number(e.now, "uptime_ns");
    f->time_ns = number(e.now, "time_ns");
    f->events_per_s = rate(&e, "handled");
    f->depth = number(e.now, "depth");
    f->dropped = number(e.now, "dropped");
    f->dropped_per_s = rate(&e, "dropped");
    f->dead = number(e.now, "dead");
    f->dead_per_s = rate(&e, "dead");
    f->refused = f->refused_per_s = NAN;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        f->refused = sum(f->refused, number(e.now, refusals[i]));
        f->refused_per_s = sum(f->refused_per_s, rate(&e, refusals[i]));
    }
    f->failures = number(e.now, "failures");
    f->letters = number(e.now, "letters");
    f->processors = number(e.now, "processors");
    f->processors_shown = number(f->document, "processors_shown");
    f->threads = number(e.now, "threads");
    f->timers = number(json_object_get(f->document, "timers"), "pending");
    f->cpu = rate(&p, "cpu_ns") / 1e9;
    f->cores = number(p.now, "cores_usable");
    f->rss = number(p.now, "rss_bytes");
    f->throttled_per_s = rate(&p, "throttled");
    f->throttling = rate(&p, "throttled_ns") / 1e9;
}

/* The earlier look if it is one of the same engine, or NULL; and how long it is ago. */
static const json_t *earlier(const json_t *before, const json_t *now, double *seconds)
{
    const json_t *a = json_object_get(before, "engine");
    const json_t *b = json_object_get(now, "engine");
    const double gone = number(b, "time_ns") - number(a, "time_ns");
    /* Two processes have two numbers, if a server says it. */
    if (gone > 0 && number(b, "uptime_ns") >= number(a, "uptime_ns") &&
        strcmp(text(a, "name"), text(b, "name")) == 0) {
        *seconds = gone / 1e9;
        return before;
    }
    const double life = number(b, "uptime_ns");
    *seconds = life > 0 ? life / 1e9 : NAN; /* no rates, rather than endless ones */
    return NULL;
}

static void mark_loaded(weir__top_rows *rows)
{
    weir__top_thread *threads = rows->items;
    bool loaded = false;
    for (size_t i = 0; i < rows->count; i++) {
        loaded = loaded || threads[i].utilisation >= 0.9;
    }
    for (size_t i = 0; i < rows->count; i++) {
        threads[i].loaded = loaded;
    }
}

bool weir__top_figures_make(weir__top_figures *out, json_t *before, json_t *now)
{
    *out = (weir__top_figures){ 0 };
    if (!json_is_object(json_object_get(now, "engine"))) {
        return false;
    }
    out->document = json_incref(now);
    const json_t *then = earlier(before, now, &out->seconds);
    out->since_start = then == NULL;
    read_engine(out, then);
    read_health(out);
    for (uint32_t table = 0; table < WEIR__TOP_TABLES; table++) {
        if (sections[table].read != NULL) {
            read_section(out, then, table);
        }
    }
    read_workers(out, then);
    read_own(out, then);
    mark_loaded(&out->rows[WEIR__TOP_THREADS]);
    return true;
}

void weir__top_figures_close(weir__top_figures *figures)
{
    for (uint32_t table = 0; table < WEIR__TOP_TABLES; table++) {
        free(figures->rows[table].items);
    }
    json_decref(figures->document);
    *figures = (weir__top_figures){ 0 };
}
