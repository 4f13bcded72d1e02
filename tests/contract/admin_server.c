/*
 * admin_server.c - an engine with its admin ways open, for tests/contract/admin.py, admin_http.py
 * and tools/admin-load: a few processors, a router, commands in turns of a processor.
 *
 *     admin_server KEY=VALUE ...     below weir.admin, as in a file
 *
 * Prints "socket PATH", "url URL" and "ready", a line each, or an error; runs until its input ends.
 * "hold" and "release" as lines keep a handler of the processor "book", and let it go; "crowd" adds
 * 200 processors more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <weir/weir.h>

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/admin.h"

enum { OVERRIDES_MAX = 32 };

typedef struct book {
    uint64_t resets;
} book;

static sem_t hold;
WEIR_EMPTY_TYPE(stay, "test.stay");
WEIR_EMPTY_TYPE(tick, "test.tick");

static weir_status on_book(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    if (weir_event_as(event, &stay_type) != NULL) {
        (void)sem_wait(&hold);
        return WEIR_OK;
    }
    return weir_turn_fail(turn, WEIR_E_FAILED, "a tick is what this book fails on");
}

static weir_status on_flow(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static weir_status on_reset(void *context, weir_admin_call *call)
{
    book *b = context; /* the state: no lock, the call is in a turn of its processor */
    b->resets++;
    weir_admin_text(call, "reset", weir_admin_argument(call, 0));
    weir_admin_unsigned(call, "resets", b->resets);
    weir_admin_bool(call, "in-turn", weir_admin_turn(call) != NULL);
    return WEIR_OK;
}

static weir_status on_large(void *context, weir_admin_call *call)
{
    (void)context;
    char text[1001];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (int i = 0; i < 20000; i++) {
        weir_admin_row(call);
        weir_admin_number(call, "row", i);
        weir_admin_text(call, "text", text);
    }
    return WEIR_OK;
}

static weir_status on_hostile(void *context, weir_admin_call *call)
{
    (void)context;
    weir_admin_text(call, "quote\"key", "a \"quoted\" \\ \n \x1b[31m \xff\xc0\xaf end");
    weir_admin_real(call, "nan", 0.0 / 0.0);
    weir_admin_number(call, "least", INT64_MIN);
    weir_admin_unsigned(call, "most", UINT64_MAX);
    return WEIR_OK;
}

static void set_up(weir_engine *engine, weir_processor *to, weir_error *error)
{
    static book shared;
    *to = weir_processor_add(
        engine, WEIR_PROCESSOR(.name = "book", .handler = on_book, .argument = &shared), error);
    (void)weir_processor_add(engine, WEIR_PROCESSOR(.name = "spare", .handler = on_book), error);
    (void)weir_router_add(
        engine, WEIR_ROUTER(.name = "orders", .handler = on_flow, .workers = 2, .latency_every = 1),
        error);
    (void)weir_admin_add(engine,
                         WEIR_ADMIN(.name = "book reset", .arguments = "SYMBOL [hard|soft]",
                                    .help = "empties one book", .changes = true,
                                    .handler = on_reset, .context = &shared, .runs_in = *to),
                         error);
    (void)weir_admin_add(
        engine, WEIR_ADMIN(.name = "large", .help = "twenty megabytes", .handler = on_large),
        error);
    (void)weir_admin_add(
        engine,
        WEIR_ADMIN(.name = "hostile", .help = "texts that are no texts", .handler = on_hostile),
        error);
    (void)weir_engine_start(engine, error);
}

static weir_status add_crowd(weir_engine *engine)
{
    weir_error error = WEIR_ERROR_INIT;
    for (int i = 0; i < 200; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "crowd-%d", i);
        (void)weir_processor_add(engine, WEIR_PROCESSOR(.name = name, .handler = on_flow), &error);
    }
    return error.status;
}

static int serve(weir_engine *engine, weir_processor to)
{
    char line[64];
    const weir_router orders = weir_router_find(engine, "orders");
    uint64_t key = 0;
    while (fgets(line, sizeof(line), stdin) != NULL) {
        weir_status status = WEIR_OK;
        if (strcmp(line, "hold\n") == 0) {
            status = weir_engine_post(engine, to, WEIR_EMPTY(stay));
        } else if (strcmp(line, "release\n") == 0) {
            (void)sem_post(&hold);
        } else if (strcmp(line, "tick\n") == 0) {
            status = weir_engine_post(engine, to, WEIR_EMPTY(tick));
        } else if (strcmp(line, "order\n") == 0) {
            status = weir_router_submit(engine, orders, ++key, WEIR_EMPTY(tick));
        }
        if (strcmp(line, "crowd\n") == 0) {
            status = add_crowd(engine);
        }
        printf("%s\n", weir_status_name(status));
        (void)fflush(stdout);
    }
    (void)sem_post(&hold);
    return 0;
}

int main(int argc, char **argv)
{
    weir_error error = WEIR_ERROR_INIT;
    weir__admin_options options = { .enabled = false };
    const weir_option_table *const tables[] = { &weir__admin_table, NULL };
    char *overrides[OVERRIDES_MAX + 1] = { NULL };
    for (int i = 1; i < argc && i <= OVERRIDES_MAX; i++) {
        const size_t size = strlen(argv[i]) + sizeof("weir.admin.");
        overrides[i - 1] = malloc(size);
        if (overrides[i - 1] == NULL) {
            return 1;
        }
        (void)snprintf(overrides[i - 1], size, "weir.admin.%s", argv[i]);
    }
    (void)sem_init(&hold, 0, 0);
    weir_config *config =
        weir_config_parse("none", "", 0,
                          WEIR_CONFIG(.tables = tables, .ignore_environment = true,
                                      .overrides = (const char *const *)overrides),
                          &error);
    weir_engine *engine = config != NULL ? weir_config_engine(config, NULL, &error) : NULL;
    weir_processor to = { 0 };
    weir__admin_server *server = NULL;
    if (engine != NULL && weir_config_read(config, "weir.admin", weir__admin_rows,
                                           weir__admin_row_count, &options, &error) == WEIR_OK) {
        set_up(engine, &to, &error);
        server = weir__admin_open(engine, &options, "test", &error);
    }
    int status = 1;
    if (error.status != WEIR_OK) {
        (void)weir_error_print(&error);
    } else {
        printf("socket %s\nurl %s\nready\n", weir__admin_socket_path(server),
               weir__admin_url(server));
        (void)fflush(stdout);
        status = serve(engine, to);
    }
    weir__admin_close(server);
    weir_engine_destroy(engine);
    weir_config_destroy(config);
    for (int i = 0; i < OVERRIDES_MAX; i++) {
        free(overrides[i]);
    }
    return status;
}
