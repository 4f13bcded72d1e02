/*
 * admin_support.h - what the tests of admin commands share: an engine with an allocator that can
 * fail, commands as words, answers as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_ADMIN_SUPPORT_H
#define WEIR_TEST_ADMIN_SUPPORT_H

#include <weir/weir.h>

#include <pthread.h>

#include "../engine/fault_support.h"

typedef struct desk {
    test_fault fault;
    weir_engine *engine;
    weir_error error;
    weir_processor book;
    sem_t held, go; /* its handler is in, and may return */
} desk;

static const weir_event_type desk_stay = {
    sizeof(weir_event_type), "test.stay", 0, false, NULL, NULL
};
static const weir_event_type desk_fail = {
    sizeof(weir_event_type), "test.fail", 0, false, NULL, NULL
};

static inline weir_status desk_handle(void *state, weir_turn *turn, const weir_event *event)
{
    desk *d = state;
    if (event->type == &desk_stay) {
        (void)sem_post(&d->held);
        return test_sem_taken(&d->go) ? WEIR_OK : WEIR_E_FAILED;
    }
    return weir_turn_fail(turn, WEIR_E_USER, "it was to \"fail\"");
}

static inline void desk_open(desk *d)
{
    *d = (desk){ .error = WEIR_ERROR_INIT };
    test_fault_init(&d->fault);
    (void)sem_init(&d->held, 0, 0);
    (void)sem_init(&d->go, 0, 0);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &d->fault };
    d->engine = weir_engine_create(WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF),
                                   &d->error);
    d->book = weir_processor_add(
        d->engine, WEIR_PROCESSOR(.name = "book", .handler = desk_handle, .argument = d),
        &d->error);
    assert_int_equal(WEIR_OK, weir_engine_start(d->engine, &d->error));
}

static inline void desk_close(desk *d)
{
    weir_engine_destroy(d->engine);
    assert_int_equal(0, atomic_load(&d->fault.bytes));
    assert_int_equal(0, atomic_load(&d->fault.wrong));
}

/* Its handler is inside an event until sem_post(&d->go). */
static inline void desk_hold(desk *d)
{
    assert_int_equal(
        WEIR_OK, weir_engine_post(d->engine, d->book, &(const weir_event){ .type = &desk_stay }));
    assert_true(test_sem_taken(&d->held));
}

/* The last answer of desk_run: until the next one. */
static char desk_answer[1 << 20];

static inline weir_status desk_run_as(desk *d, bool may_change, weir_ns timeout, const char *line)
{
    char copy[8192];
    const char *words[80];
    size_t count = 0;
    char *answer = NULL;
    (void)snprintf(copy, sizeof(copy), "%s", line);
    char *save = NULL;
    for (char *word = strtok_r(copy, " ", &save); word != NULL && count < 80;
         word = strtok_r(NULL, " ", &save)) {
        words[count++] = word;
    }
    const weir_status status =
        weir_admin_run(d->engine, words, count, may_change, timeout, &answer);
    (void)snprintf(desk_answer, sizeof(desk_answer), "%s", answer != NULL ? answer : "");
    weir_admin_free(d->engine, answer);
    return status;
}

static inline weir_status desk_run(desk *d, const char *line)
{
    return desk_run_as(d, true, 0, line);
}

#define assert_says(part)                                                                          \
    do {                                                                                           \
        if (strstr(desk_answer, (part)) == NULL) {                                                 \
            fprintf(stderr, "# not in the answer: %s\n# %s\n", (part), desk_answer);               \
        }                                                                                          \
        assert_non_null(strstr(desk_answer, (part)));                                              \
    } while (0)
#define assert_says_not(part) assert_null(strstr(desk_answer, (part)))

#endif /* WEIR_TEST_ADMIN_SUPPORT_H */
