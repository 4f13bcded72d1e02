/*
 * outbox_test.c - what is put in comes out, in order and whole, however the writes cut it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include <string.h>

#include "connect/outbox.h"

static weir_status put(weir__outbox *box, const char *text)
{
    return weir__outbox_put(box, NULL, 0, text, strlen(text), "\n", 1);
}

/* Writes at most `most` bytes to `out`; returns how many. */
static size_t take(weir__outbox *box, size_t most, char *out, size_t *events)
{
    uv_buf_t pieces[2];
    size_t size = 0;
    const unsigned count = weir__outbox_look(box, most, pieces);
    for (unsigned i = 0; i < count; i++) {
        memcpy(out + size, pieces[i].base, pieces[i].len);
        size += pieces[i].len;
    }
    *events += weir__outbox_took(box, size);
    return size;
}

static void refuses_what_has_no_room_and_what_never_has(void **unused)
{
    (void)unused;
    weir__outbox box;
    assert_true(weir__outbox_open(&box, 8));
    assert_int_equal(put(&box, "12345678"), WEIR_E_LIMIT);
    assert_int_equal(put(&box, "1234567"), WEIR_OK);
    assert_int_equal(put(&box, ""), WEIR_FULL);
    char out[8];
    size_t events = 0;
    assert_int_equal(take(&box, 7, out, &events), 7);
    assert_int_equal(events, 0);
    assert_int_equal(put(&box, ""), WEIR_FULL); /* it may have to be written again */
    assert_int_equal(take(&box, 7, out, &events), 1);
    assert_int_equal(events, 1);
    assert_int_equal(put(&box, ""), WEIR_OK);
    assert_int_equal(weir__outbox_first(&box), 1);
    weir__outbox_close(&box);
}

static void rewinding_begins_with_the_event_that_was_cut(void **unused)
{
    (void)unused;
    weir__outbox box;
    assert_true(weir__outbox_open(&box, 64));
    assert_int_equal(put(&box, "first"), WEIR_OK);
    assert_int_equal(put(&box, "second"), WEIR_OK);
    char out[64];
    size_t events = 0;
    assert_int_equal(take(&box, 8, out, &events), 8); /* "first\nse" */
    assert_int_equal(events, 1);
    assert_int_equal(weir__outbox_first(&box), 5);
    weir__outbox_rewind(&box);
    const size_t size = take(&box, 64, out, &events);
    assert_int_equal(size, 7);
    assert_memory_equal(out, "second\n", 7);
    assert_int_equal(events, 2);
    assert_int_equal(box.count, 0);
    assert_int_equal(box.used, 0);
    weir__outbox_close(&box);
}

/* Many events through a small ring, cut anywhere, with rewinds: the stream that a peer sees after
 * each rewind begins with a whole event, and no event is missing. */
static void any_cut_gives_the_same_stream(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    weir__outbox box;
    assert_true(weir__outbox_open(&box, 97));
    unsigned next_in = 0, next_out = 0;
    char line[64], partial[128];
    size_t partial_size = 0, events = 0;
    while (next_out < 20000) {
        snprintf(line, sizeof(line), "%u%.*s", next_in, (int)(test_random(&random) % 20),
                 "....................");
        if (next_in < 20000 && put(&box, line) == WEIR_OK) {
            next_in++;
        }
        if (test_random(&random) % 16 == 0) {
            weir__outbox_rewind(&box);
            partial_size = 0; /* the peer of that connection throws a cut line away */
        }
        partial_size += take(&box, test_random(&random) % 40, partial + partial_size, &events);
        char *newline;
        while ((newline = memchr(partial, '\n', partial_size)) != NULL) {
            assert_int_equal(strtoul(partial, NULL, 10), next_out);
            next_out++;
            partial_size -= (size_t)(newline + 1 - partial);
            memmove(partial, newline + 1, partial_size);
        }
    }
    assert_int_equal(events, 20000);
    assert_int_equal(box.count, 0);
    weir__outbox_close(&box);
}

static void more_events_than_at_first_find_room(void **unused)
{
    (void)unused;
    weir__outbox box;
    assert_true(weir__outbox_open(&box, 10000));
    char out[10000];
    size_t events = 0;
    assert_int_equal(put(&box, ""), WEIR_OK); /* so that the sizes do not begin at the front */
    assert_int_equal(take(&box, 1, out, &events), 1);
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(put(&box, "x"), WEIR_OK);
    }
    assert_int_equal(put(&box, "x"), WEIR_FULL);
    size_t size = 0;
    while (box.count > 0) {
        size += take(&box, 3, out + size, &events);
    }
    assert_int_equal(size, 10000);
    assert_int_equal(events, 5001);
    weir__outbox_close(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_has_no_room_and_what_never_has),
        cmocka_unit_test(rewinding_begins_with_the_event_that_was_cut),
        cmocka_unit_test(any_cut_gives_the_same_stream),
        cmocka_unit_test(more_events_than_at_first_find_room),
    };
    return cmocka_run_group_tests_name("outbox", tests, NULL, NULL);
}
