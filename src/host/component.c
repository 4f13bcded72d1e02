/*
 * host/component.c - a component is added: its record, its processor, its feed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "host/descriptor.h"
#include "host/host.h"

#define PATH "weir_component_add"
#define INSTANCES_MAX 1000u
#define RETRY_DELAY_MOST (100 * WEIR_MS)

/* What is asked for, while it is made. */
typedef struct draft {
    weir__host *host;
    const weir_component_type *given;
    weir_component_type type;
    weir_component_options options;
    weir_error *error;
} draft;

/* ---- checks ---- */

static bool publishes(const weir_component_type *type)
{
    return type->kind == WEIR_KIND_SOURCE || type->publishes;
}

static weir_status check_feed(const draft *d)
{
    const bool source = d->type.kind == WEIR_KIND_SOURCE;
    if (!publishes(&d->type) && d->options.feed != NULL) {
        return weir__error_at(d->error, WEIR_E_INVALID, "weir_component_options.feed",
                              "is for sources, and %s is none", d->options.name);
    }
    if (!source && d->type.publishes && d->options.instances > 1) {
        return weir__error_at(d->error, WEIR_E_INVALID, "weir_component_options.instances",
                              "is %u; type %s has a feed, which one of them can have",
                              d->options.instances, d->type.name);
    }
    if (source && d->options.feeds != NULL && d->options.feeds[0] != NULL) {
        return weir__error_at(d->error, WEIR_E_INVALID, "weir_component_options.feeds",
                              "are for handlers, and %s is a source, which has none",
                              d->options.name);
    }
    return WEIR_OK;
}

static weir_status check(draft *d)
{
    const weir_component_options *o = &d->options;
    const bool handles = d->type.handler != NULL || d->type.cases.count > 0;
    char longest[WEIR__COMPONENT_NAME_SIZE + 16];
    if (o->name == NULL || o->name[0] == '\0') {
        return weir__error_at(d->error, WEIR_E_INVALID, "weir_component_options.name",
                              "is missing");
    }
    if (o->instances > INSTANCES_MAX || (o->instances > 1 && d->type.kind != WEIR_KIND_PROCESSOR)) {
        return weir__error_at(d->error, WEIR_E_INVALID, "weir_component_options.instances",
                              "is %u; of a processor 1 to %u, of other kinds 1", o->instances,
                              INSTANCES_MAX);
    }
    if (o->instances > 1) {
        snprintf(longest, sizeof(longest), "%.66s/%u", o->name, o->instances);
    } else {
        snprintf(longest, sizeof(longest), "%.66s", o->name);
    }
    if (strlen(longest) >= WEIR__COMPONENT_NAME_SIZE) {
        return weir__error_at(d->error, WEIR_E_INVALID, "weir_component_options.name",
                              "is longer than %u bytes", WEIR__COMPONENT_NAME_SIZE - 1);
    }
    if (!handles && o->feeds != NULL && o->feeds[0] != NULL && d->type.kind != WEIR_KIND_SOURCE) {
        return weir__error_at(d->error, WEIR_E_INVALID, "weir_component_options.feeds",
                              "are for handlers, and type %s has none", d->type.name);
    }
    return check_feed(d);
}

/* lock held. */
static weir_status check_name(const draft *d)
{
    for (const weir_component *c = d->host->components; c != NULL; c = c->next) {
        if (weir__component_is_called(c, d->options.name)) {
            return weir__error_at(d->error, WEIR_E_TAKEN, "weir_component_options.name",
                                  "is \"%s\", which is taken", d->options.name);
        }
    }
    return WEIR_OK;
}

/* ---- its record ---- */

static bool copy_names(const weir_allocator *allocator, const char *const *names, weir__names *out)
{
    size_t count = 0;
    while (names != NULL && names[count] != NULL) {
        count++;
    }
    if (count == 0) {
        return true;
    }
    out->items = weir__allocate(allocator, count * sizeof(*out->items));
    if (out->items == NULL) {
        return false;
    }
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        if (!weir__copy_text(allocator, names[i], &out->items[i])) {
            return false;
        }
    }
    return true;
}

static weir_component *make(draft *d, const char *name)
{
    const weir_allocator *allocator = &d->host->engine->allocator;
    const weir_component_options *o = &d->options;
    const size_t size = sizeof(weir_component) + (d->type.state_size > 0 ? d->type.state_size : 1);
    weir_component *c = weir__allocate(allocator, size);
    if (c == NULL) {
        (void)weir__error_memory(d->error, PATH);
        return NULL;
    }
    c->host = d->host;
    c->memory_size = size;
    c->given = d->given;
    c->type = d->type;
    c->type.flush_max = c->type.flush_max != 0 ? c->type.flush_max : WEIR__FLUSH_DEFAULT;
    const bool handles = d->type.handler != NULL || d->type.cases.count > 0;
    c->shared = handles && (d->type.do_work != NULL || d->type.flush != NULL);
    if (!weir__copy_text(allocator, name, &c->name) ||
        !weir__copy_text(allocator, o->instances > 1 ? o->name : NULL, &c->group) ||
        !weir__copy_text(allocator, o->thread, &c->thread_name) ||
        !weir__copy_text(allocator, o->dispatcher, &c->dispatcher) ||
        !copy_names(allocator, o->after, &c->after) ||
        !copy_names(allocator, o->feeds, &c->feeds)) {
        (void)weir__error_memory(d->error, PATH);
        weir__component_free(c);
        return NULL;
    }
    char path[96];
    snprintf(path, sizeof(path), "component %s", name);
    if (weir__config_copy_make(allocator, &c->type, o->config, path, &c->copy, d->error) !=
        WEIR_OK) {
        weir__component_free(c);
        return NULL;
    }
    return c;
}

/* ---- its processor ---- */

/* registry.lock held. Of the dispatchers that a thread serves one that nobody else does, so that
 * all of the component runs there; else the first one. */
static const char *dispatcher_of(const weir__thread *thread)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        if (weir__load(&thread->servings[i]->dispatcher->threads, relaxed) == 1) {
            return thread->servings[i]->dispatcher->name;
        }
    }
    return thread->serving_count > 0 ? thread->servings[0]->dispatcher->name : NULL;
}

/* registry.lock held. Nobody said where: the default one if there is such a one, else one of the
 * first thread. */
static const weir__thread *thread_for(weir_engine *engine, const weir_component *c)
{
    if (c->thread_name != NULL) {
        return weir__thread_by_name(engine, c->thread_name);
    }
    if (c->dispatcher != NULL || weir__engine_wants_default_threads(engine) ||
        weir__dispatcher_find(engine, "") != NULL) {
        return NULL;
    }
    return weir__host_first_thread(engine, NULL);
}

/* Its thread exists; where its handler runs, if nobody said it. */
static weir_status choose_dispatcher(weir_component *c, weir_error *error)
{
    weir_engine *engine = c->host->engine;
    weir__mutex_lock(&engine->registry.lock);
    const weir__thread *thread = thread_for(engine, c);
    const char *name = thread != NULL ? dispatcher_of(thread) : NULL;
    bool memory = true;
    if (name != NULL && c->dispatcher == NULL) {
        memory = weir__copy_text(&engine->allocator, name, &c->dispatcher);
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (thread == NULL && c->thread_name != NULL) {
        char path[96];
        snprintf(path, sizeof(path), "component %s.thread", c->name);
        return weir__error_at(error, WEIR_E_INVALID, path,
                              "is \"%.64s\", and no thread is called so", c->thread_name);
    }
    return memory ? WEIR_OK : weir__error_memory(error, PATH);
}

static weir_status add_processor(weir_component *c, const weir_component_options *o,
                                 weir_error *error)
{
    weir_error own = WEIR_ERROR_INIT;
    const bool own_way = o->on_failure != WEIR_RESUME;
    weir_status status = choose_dispatcher(c, error);
    c->ends_of_failure = (own_way ? o->on_failure : c->type.on_failure) == WEIR_STOP;
    if (status != WEIR_OK || (c->type.handler == NULL && c->type.cases.count == 0)) {
        return status;
    }
    c->address = weir_processor_add(
        c->host->engine,
        WEIR_PROCESSOR(.name = c->name, .dispatcher = c->dispatcher,
                       .handler = weir__component_handle, .argument = c->state,
                       .mailbox_max = o->mailbox_max, .overflow = o->overflow,
                       .on_failure = own_way ? o->on_failure : c->type.on_failure,
                       .retry_max = c->type.retry_max, .retry_delay = c->type.retry_delay,
                       .retry_delay_max = c->type.retry_delay > RETRY_DELAY_MOST
                                              ? c->type.retry_delay
                                              : RETRY_DELAY_MOST),
        &own);
    if (c->address.id != 0) {
        return WEIR_OK;
    }
    char path[96];
    snprintf(path, sizeof(path), "component %s", c->name);
    return weir__error_at(error, own.status, path, "%s: %s", own.path, own.text);
}

/* ---- its feed ---- */

/* Any thread: what was published is done with. */
static void on_committed(void *context)
{
    weir__port *port = context;
    weir__brief_lock(&port->lock);
    weir_component *c = port->component;
    if (c != NULL && c->type.commit != NULL) {
        weir__store(&c->commit_due, 1, release); /* [CO10] pairs with [CO9] */
        weir_component_wake(c);
    }
    weir__brief_unlock(&port->lock);
}

/* lock held. NULL: no memory. */
static weir__port *port_of(weir__host *host, const char *name)
{
    const weir_allocator *allocator = &host->engine->allocator;
    weir__port *port = host->ports;
    while (port != NULL && strcmp(port->name, name) != 0) {
        port = port->next;
    }
    if (port != NULL) {
        return port;
    }
    port = weir__allocate(allocator, sizeof(*port));
    if (port == NULL || !weir__copy_text(allocator, name, &port->name)) {
        weir__release(allocator, port, sizeof(*port));
        return NULL;
    }
    port->next = host->ports;
    host->ports = port;
    return port;
}

/* lock held. */
static weir_status open_feed(weir_component *c, const weir_feed_options *given, weir_error *error)
{
    weir_feed_options o = WEIR_FEED_OPTIONS_INIT;
    weir_error own = WEIR_ERROR_INIT;
    if (!publishes(&c->type)) {
        return WEIR_OK;
    }
    if (given != NULL) {
        memset(&o, 0, sizeof(o));
        const weir_status status = weir__options_read(&o, sizeof(o), given);
        if (status != WEIR_OK) {
            return weir__error_at(error, status, "weir_component_options.feed",
                                  "has a struct_size that cannot be: use WEIR_FEED");
        }
        o.struct_size = sizeof(o);
    }
    weir__port *port = port_of(c->host, c->name);
    if (port == NULL) {
        return weir__error_memory(error, PATH);
    }
    o.name = c->name;
    o.slow = o.slow != WEIR_SLOW_DEFAULT ? o.slow : c->type.slow;
    o.many_writers = o.many_writers || c->type.kind != WEIR_KIND_SOURCE;
    o.committed = on_committed;
    o.committed_context = port;
    if (port->feed.id == 0) {
        port->feed = weir_feed_open(c->host->engine, &o, &own);
    }
    if (port->feed.id == 0) {
        char path[96];
        snprintf(path, sizeof(path), "component %s", c->name);
        return weir__error_at(error, own.status, path, "%s: %s", own.path, own.text);
    }
    c->port = port;
    return WEIR_OK;
}

/* From now on it hears of commits; or no longer, and nobody is about to tell it. */
void weir__component_attach(weir_component *c, bool attached)
{
    if (c->port != NULL) {
        weir__brief_lock(&c->port->lock);
        c->port->component = attached ? c : NULL;
        weir__brief_unlock(&c->port->lock);
    }
}

/* ---- the lists: lock held ---- */

static bool make_room(weir__host *host)
{
    const weir_allocator *allocator = &host->engine->allocator;
    if (host->count < host->order_room) {
        return true;
    }
    const size_t room = host->order_room > 0 ? 2 * host->order_room : 16;
    weir_component **order = weir__allocate(allocator, room * sizeof(void *));
    if (order == NULL) {
        return false;
    }
    if (host->count > 0) {
        memcpy(order, host->order, host->count * sizeof(void *));
    }
    weir__release(allocator, host->order, host->order_room * sizeof(void *));
    host->order = order;
    host->order_room = room;
    return true;
}

static bool enlist(weir__host *host, weir_component *c)
{
    if (!make_room(host)) {
        return false;
    }
    host->order[host->count++] = c;
    weir_component **end = &host->components;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = c;
    return true;
}

void weir__host_remove(weir__host *host, const weir_component *c)
{
    weir_component **link = &host->components;
    while (*link != NULL && *link != c) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return;
    }
    *link = c->next;
    size_t kept = 0;
    for (size_t i = 0; i < host->count; i++) {
        if (host->order[i] != c) {
            host->order[kept++] = host->order[i];
        }
    }
    host->count = kept;
}

/* ---- adding ---- */

void weir__component_discard(weir_component *c)
{
    weir__host *host = c->host;
    if (c->address.id != 0) {
        (void)weir_processor_stop(host->engine, c->address, WEIR_NOW, NULL);
    }
    weir__mutex_lock(&host->lock);
    weir__host_remove(host, c);
    weir__mutex_unlock(&host->lock);
    weir__component_free(c);
}

/* life held. In the lists, or NULL: error set. */
static weir_component *add_one(draft *d, const char *name)
{
    weir__host *host = d->host;
    weir_component *c = make(d, name);
    if (c == NULL) {
        return NULL;
    }
    weir__mutex_lock(&host->lock);
    weir_status status = open_feed(c, d->options.feed, d->error);
    if (status == WEIR_OK && !enlist(host, c)) {
        status = weir__error_memory(d->error, PATH);
    }
    weir__mutex_unlock(&host->lock);
    /* Last: before the engine runs a processor cannot be taken back at once. */
    status = status == WEIR_OK ? add_processor(c, &d->options, d->error) : status;
    if (status != WEIR_OK) {
        weir__component_discard(c);
        return NULL;
    }
    return c;
}

/* life held, everything runs: it comes up to the others. */
static weir_status bring_up(weir_component *c, weir_error *error)
{
    weir__host *host = c->host;
    weir__mutex_lock(&host->lock);
    weir_status status = weir__component_resolve(c, error);
    weir__mutex_unlock(&host->lock);
    status = status == WEIR_OK ? weir__component_begin(c, error) : status;
    if (status == WEIR_OK) {
        status = weir__component_errand(c, WEIR__ERRAND_START, error, WEIR_FOREVER);
    }
    if (status == WEIR_OK) {
        status = weir__component_errand(c, WEIR__ERRAND_COMPLETE, error, WEIR_FOREVER);
    }
    status = status == WEIR_OK ? weir__component_announce(c, error) : status;
    if (status == WEIR_STOPPING) {
        (void)weir__error_at(error, WEIR_E_INVALID, PATH, "the engine is stopping");
        status = WEIR_E_INVALID;
    }
    if (status != WEIR_OK) {
        weir__component_undo(c, WEIR_FOREVER);
    }
    return status;
}

/* life held. All instances, or none. */
static weir_status add_all(draft *d, weir_processor *address)
{
    weir_component *added[INSTANCES_MAX];
    const uint32_t count = d->options.instances > 1 ? d->options.instances : 1;
    weir_status status = WEIR_OK;
    uint32_t made = 0;
    for (; made < count && status == WEIR_OK; made++) {
        char name[WEIR__COMPONENT_NAME_SIZE + 16];
        snprintf(name, sizeof(name), count > 1 ? "%s/%u" : "%s", d->options.name, made + 1);
        added[made] = add_one(d, name);
        if (added[made] == NULL) {
            status = d->error->status;
            break;
        }
    }
    uint32_t up = 0;
    for (; d->host->running && up < made && status == WEIR_OK; up++) {
        status = bring_up(added[up], d->error);
    }
    if (status == WEIR_OK) {
        *address = added[0]->address;
        return WEIR_OK;
    }
    for (uint32_t i = made; i > 0; i--) {
        if (i < up) { /* the one that failed has undone itself */
            (void)weir__component_end(added[i - 1], WEIR_FOREVER);
            weir__component_tear_down(added[i - 1], WEIR_FOREVER);
        }
        weir__component_discard(added[i - 1]);
    }
    return status;
}

static weir_status read_draft(draft *d, const weir_component_options *options)
{
    weir_status status = weir__type_check(d->given, "", &d->type, d->error);
    if (status != WEIR_OK) {
        return status;
    }
    if (options == NULL) {
        return weir__error_at(d->error, WEIR_E_INVALID, "weir_component_options.name",
                              "is missing");
    }
    status = weir__options_read(&d->options, sizeof(d->options), options);
    if (status != WEIR_OK) {
        return weir__error_at(d->error, status, "weir_component_options",
                              status == WEIR_E_VERSION
                                  ? "has members that this weir does not know"
                                  : "has a struct_size that cannot be: use WEIR_COMPONENT");
    }
    return check(d);
}

weir_status weir_component_add(weir_engine *engine, const weir_component_type *type,
                               const weir_component_options *options, weir_processor *address,
                               weir_error *error)
{
    weir_error own = WEIR_ERROR_INIT;
    weir_processor first = { 0 };
    draft d = { .given = type, .error = error != NULL ? error : &own };
    if (address != NULL) {
        address->id = 0;
    }
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, PATH ".engine", "is no usable engine");
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir_status status = read_draft(&d, options);
    d.host = status == WEIR_OK ? weir__host_need(engine) : NULL;
    if (d.host == NULL) {
        return status == WEIR_OK ? weir__error_memory(error, PATH) : status;
    }
    weir__mutex_lock(&d.host->life);
    if (d.host->ended || weir__load(&d.host->stop_asked, acquire) != 0) {
        status = weir__error_at(d.error, WEIR_E_INVALID, PATH, "the components are stopping");
    }
    weir__mutex_lock(&d.host->lock);
    status = status == WEIR_OK ? check_name(&d) : status;
    weir__mutex_unlock(&d.host->lock);
    status = status == WEIR_OK ? add_all(&d, &first) : status;
    weir__mutex_unlock(&d.host->life);
    if (address != NULL) {
        *address = first;
    }
    return status;
}
