/*
 * lot_test.c - the parking lot for refused connections, by a clock of the test's; the connections
 * are socket pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin/lot.h"

enum { MANY = 40 };

static weir__admin_counts counts;

/* The one end is parked at that time; the other end. -1: it was refused. */
static int park(weir__lot *lot, weir_ns now)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    if (!weir__lot_park(lot, ends[0], now)) {
        assert_int_equal(fcntl(ends[0], F_GETFD), 0); /* still ours */
        (void)close(ends[0]);
        (void)close(ends[1]);
        return -1;
    }
    return ends[1];
}

static bool is_closed(int other)
{
    char byte;
    return recv(other, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
}

static bool is_readable(const weir__lot *lot)
{
    struct pollfd p = { .fd = lot->descriptor, .events = POLLIN };
    return poll(&p, 1, 0) == 1;
}

static void open_lot(weir__lot *lot, uint32_t max)
{
    counts = (weir__admin_counts){ 0 };
    assert_true(weir__lot_open(lot, max, &counts));
    assert_int_equal(weir__lot_next(lot), WEIR_FOREVER);
}

static void one_that_is_parked_stays_for_its_time_and_is_closed_then(void **unused)
{
    (void)unused;
    weir__lot lot;
    open_lot(&lot, 4);
    const int other = park(&lot, 1000);
    assert_int_equal(weir__lot_next(&lot), 1000 + WEIR__LOT_STAY);
    weir__lot_turn(&lot, 999 + WEIR__LOT_STAY, false);
    assert_false(is_closed(other));
    assert_int_equal(weir__load(&counts.parked, relaxed), 1);
    weir__lot_turn(&lot, 1000 + WEIR__LOT_STAY, false);
    assert_true(is_closed(other));
    assert_int_equal(weir__load(&counts.parked, relaxed), 0);
    assert_int_equal(weir__lot_next(&lot), WEIR_FOREVER);
    (void)close(other);
    weir__lot_close(&lot);
}

static void they_are_closed_a_few_at_a_time_the_oldest_first(void **unused)
{
    (void)unused;
    weir__lot lot;
    int others[MANY];
    open_lot(&lot, MANY);
    for (int i = 0; i < MANY; i++) {
        others[i] = park(&lot, i);
    }
    weir_ns now = MANY + WEIR__LOT_STAY;
    for (uint32_t closed = 0; closed < MANY; now += WEIR__LOT_TURN) {
        weir__lot_turn(&lot, now, false);
        closed = closed + WEIR__LOT_AT_ONCE < MANY ? closed + WEIR__LOT_AT_ONCE : MANY;
        for (uint32_t i = 0; i < MANY; i++) {
            assert_int_equal(is_closed(others[i]), i < closed);
        }
        weir__lot_turn(&lot, now + 1, false); /* too early for the next few */
        assert_int_equal(lot.count, MANY - closed);
        assert_true(closed == MANY || weir__lot_next(&lot) == now + WEIR__LOT_TURN);
    }
    for (int i = 0; i < MANY; i++) {
        (void)close(others[i]);
    }
    weir__lot_close(&lot);
}

static void what_they_send_wakes_nobody_and_that_they_go_does(void **unused)
{
    (void)unused;
    weir__lot lot;
    int others[3];
    open_lot(&lot, 3);
    for (int i = 0; i < 3; i++) {
        others[i] = park(&lot, 0);
        assert_int_equal(send(others[i], "GET", 3, 0), 3);
    }
    assert_false(is_readable(&lot));
    (void)close(others[1]);
    assert_true(is_readable(&lot));
    weir__lot_turn(&lot, 1, true);
    assert_int_equal(lot.count, 2);
    assert_false(is_readable(&lot));
    (void)shutdown(others[0], SHUT_WR); /* says no more: it has gone, too */
    weir__lot_turn(&lot, 2, is_readable(&lot));
    assert_int_equal(lot.count, 1);
    assert_true(is_closed(others[0]));
    assert_false(is_closed(others[2]));
    (void)close(others[0]);
    (void)close(others[2]);
    weir__lot_turn(&lot, 3, true);
    assert_int_equal(lot.count, 0);
    weir__lot_close(&lot);
}

static void a_full_one_takes_no_more_until_one_has_gone(void **unused)
{
    (void)unused;
    weir__lot lot;
    open_lot(&lot, 2);
    const int first = park(&lot, 0);
    const int second = park(&lot, 0);
    assert_int_equal(park(&lot, 0), -1);
    (void)close(first);
    weir__lot_turn(&lot, 1, true);
    const int third = park(&lot, 2);
    assert_true(third >= 0);
    assert_int_equal(park(&lot, 2), -1);
    weir__lot_release(&lot, 1); /* the room is wanted: the oldest */
    assert_true(is_closed(second));
    assert_false(is_closed(third));
    weir__lot_close(&lot);
    assert_true(is_closed(third));
    assert_int_equal(weir__load(&counts.parked, relaxed), 0);
    (void)close(second);
    (void)close(third);
}

static void one_that_is_gone_and_ripe_at_once_is_closed_once(void **unused)
{
    (void)unused;
    weir__lot lot;
    open_lot(&lot, 2);
    const int first = park(&lot, 0);
    const int second = park(&lot, 0);
    (void)close(first);
    weir__lot_turn(&lot, WEIR__LOT_STAY, true);
    assert_int_equal(lot.count, 0);
    assert_true(is_closed(second));
    (void)close(second);
    weir__lot_close(&lot);
}

static void what_the_system_does_not_watch_is_not_parked(void **unused)
{
    (void)unused;
    weir__lot lot;
    open_lot(&lot, 2);
    assert_false(weir__lot_park(&lot, -1, 0));
    assert_int_equal(lot.count, 0);
    weir__lot_close(&lot);
    weir__lot_close(&lot); /* twice is no harm */
}

static void its_room_leaves_descriptors_for_the_work(void **unused)
{
    (void)unused;
    assert_int_equal(weir__lot_room(0), 0);
    assert_int_equal(weir__lot_room(1024), 256);
    assert_int_equal(weir__lot_room(20000), 10000);
    assert_int_equal(weir__lot_room(65536), WEIR__LOT_MAX);
    assert_int_equal(weir__lot_room(RLIM_INFINITY), WEIR__LOT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_parked_stays_for_its_time_and_is_closed_then),
        cmocka_unit_test(they_are_closed_a_few_at_a_time_the_oldest_first),
        cmocka_unit_test(what_they_send_wakes_nobody_and_that_they_go_does),
        cmocka_unit_test(a_full_one_takes_no_more_until_one_has_gone),
        cmocka_unit_test(one_that_is_gone_and_ripe_at_once_is_closed_once),
        cmocka_unit_test(what_the_system_does_not_watch_is_not_parked),
        cmocka_unit_test(its_room_leaves_descriptors_for_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
