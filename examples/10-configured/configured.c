/*
 * configured - an engine from a file: threads, dispatchers and the options of processors come from
 * shop.conf, and so do the program's own keys. Then another configuration is applied while it runs.
 *
 *     configured [FILE] [KEY=VALUE ...]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <weir/weir.h>

typedef struct order {
    int64_t cents;
} order;
WEIR_EVENT_TYPE(order, "shop.order");

/* What stands below `shop` in the file, as a struct and as rows that fill it. */
typedef struct shop {
    int64_t orders;
    const char *currency;
} shop;

static const weir_option shop_rows[] = {
    WEIR_KEY(INT, shop, orders, "orders", .fallback = "10", .min = 1, .max = 1e6,
             .help = "How many orders come in."),
    WEIR_KEY(STRING, shop, currency, "currency", .fallback = "EUR", .help = "What they pay with."),
};

struct journal {
    int64_t entries, cents;
};

static weir_status enter(void *state, weir_turn *turn, const weir_event *event)
{
    struct journal *self = state;
    const order *o = event->data;
    (void)turn;
    self->entries++;
    self->cents += o->cents;
    return WEIR_OK;
}

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    const weir_processor *journal = state;
    return weir_turn_post(turn, *journal, event);
}

/* A processor with what the program says, and what the file says of that name. */
static weir_processor add(weir_engine *engine, const weir_config *config, const char *name,
                          weir_handler handler, void *state, weir_error *error)
{
    weir_processor_options options = WEIR_PROCESSOR_OPTIONS_INIT;
    options.handler = handler;
    options.argument = state;
    options.on_failure = WEIR_RETRY; /* of a full journal */
    (void)weir_config_processor_options(config, name, &options, error);
    return weir_processor_add(engine, &options, error);
}

int main(int argc, char **argv)
{
    static struct journal journal;
    static weir_processor journal_handle;
    shop settings = { 0 };
    weir_error error = WEIR_ERROR_INIT;
    const char *const none[] = { NULL };
    const char *const *overrides = argc > 2 ? (const char *const *)(argv + 2) : none;

    weir_config *config =
        weir_config_load(argc > 1 ? argv[1] : NULL, WEIR_CONFIG(.overrides = overrides), &error);
    weir_engine *engine = weir_config_engine(config, NULL, &error);
    weir_config_read(config, "shop", shop_rows, 2, &settings, &error);
    journal_handle = add(engine, config, "journal", enter, &journal, &error);
    const weir_processor till = add(engine, config, "till", take, &journal_handle, &error);
    weir_engine_start(engine, &error);
    if (error.status != 0) {
        return weir_error_print(&error); /* shop.conf:8:5: weir.engine...: what is wrong */
    }
    int64_t accepted = 0;
    for (int64_t i = 0; i < settings.orders; i++) {
        accepted += weir_engine_post(engine, till, WEIR_EVENT(order, 100)) == WEIR_OK;
    }

    /* The same file with one setting over it, for the engine that runs. */
    static const char *const more[] = { "weir.engine.batch-max=8", "weir.engine.timers-max=5000",
                                        NULL };
    size_t pending = 0;
    weir_config *changed =
        weir_config_load(argc > 1 ? argv[1] : NULL, WEIR_CONFIG(.overrides = more), &error);
    weir_config_apply(changed, engine, &pending, &error); /* the log names what waits */
    weir_config_destroy(changed);

    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_engine_stop(engine, 0, &report);
    printf("%lld orders, %lld entries, %lld.%02lld %s\n", (long long)accepted,
           (long long)journal.entries, (long long)(journal.cents / 100),
           (long long)(journal.cents % 100), settings.currency);
    printf("applied while it ran; keys that wait for a restart: %zu\n", pending);
    weir_engine_destroy(engine);
    weir_config_destroy(config);
    if (error.status != 0) {
        return weir_error_print(&error);
    }
    return weir_stop_report_print(&report);
}
