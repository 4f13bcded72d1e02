/*
 * plugin_fixture.c - shared objects for plugin_test.c: a good one, and by a macro one of each kind
 * that is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <weir/weir.h>

#if FIXTURE_KIND == 1 /* good */
static unsigned loads;

static weir_status on_load(weir_error *error)
{
    (void)error;
    return ++loads == 1 ? WEIR_OK : WEIR_E_FAILED;
}

static weir_status on_event(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (*(uint64_t *)state)++;
    return event->type == &weir_text_type ? WEIR_OK : WEIR_UNHANDLED;
}

static const weir_component_type counter = {
    .struct_size = sizeof(counter),
    .kind = WEIR_KIND_PROCESSOR,
    .name = "fixture-counter",
    .state_size = sizeof(uint64_t),
    .handler = on_event,
};
static const weir_component_type *const types[] = { &counter };

WEIR_PLUGIN = {
    WEIR_PLUGIN_HEAD, .name = "fixture", .version = "1.0.0",
    .types = types,   .type_count = 1,   .load = on_load,
};
#elif FIXTURE_KIND == 2 /* another ABI */
WEIR_PLUGIN = {
    .struct_size = sizeof(weir_plugin),
    .abi = WEIR_PLUGIN_ABI + 1,
    .name = "fixture",
};
#elif FIXTURE_KIND == 3 /* a symbol that nobody has */
WEIR_API int weir_that_was_never(void);
WEIR_API int fixture_use(void);
int fixture_use(void)
{
    return weir_that_was_never();
}
WEIR_PLUGIN = { WEIR_PLUGIN_HEAD, .name = "fixture" };
#else                   /* no plugin */
WEIR_API int fixture_nothing(void);
int fixture_nothing(void)
{
    return 0;
}
#endif
