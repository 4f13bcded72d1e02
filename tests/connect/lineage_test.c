/*
 * connect/lineage_test.c - a trace context on its way into lines that go out: every other byte
 * stays, whatever the line is. That it comes in is tested through a server
 * (contract/traceparent.py).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "connect/lineage.h"
#include "engine/option_support.h"

#define PARENT "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

/* NULL: the line is not touched. Of memory that ends with it: ASan sees who reads on. */
static void expect(const char *line, const char *wanted)
{
    weir__lineage_out out;
    weir_error error = WEIR_ERROR_INIT;
    const size_t size = strlen(line);
    char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, line, size); /* NOLINT(bugprone-not-null-terminated-result): on purpose */
    weir__payload payload = { .data = copy, .size = size };
    assert_int_equal(WEIR_OK, weir__lineage_out_open(&out, "tp", "it", &error));
    assert_int_equal(WEIR_OK, weir__lineage_write(&out, PARENT, &payload));
    if (wanted == NULL) {
        assert_ptr_equal(copy, payload.data);
        wanted = line;
    }
    assert_int_equal(strlen(wanted), payload.size);
    assert_memory_equal(wanted, payload.data, payload.size);
    weir__lineage_out_close(&out);
    free(copy);
}

static void it_is_put_behind_the_other_fields(void **state)
{
    (void)state;
    expect("{\"a\":1}", "{\"a\":1,\"tp\":\"" PARENT "\"}");
    expect("{}", "{\"tp\":\"" PARENT "\"}");
    expect(" {\t} \r", " {\t\"tp\":\"" PARENT "\"} \r");
    expect("{\"a\": 1.10e+2 , \"b\" : [ ] }",
           "{\"a\": 1.10e+2 , \"b\" : [ ] ,\"tp\":\"" PARENT "\"}");
}

static void it_takes_the_place_of_what_is_there(void **state)
{
    (void)state;
    expect("{\"tp\":\"x\"}", "{\"tp\":\"" PARENT "\"}");
    expect("{\"tp\":null,\"b\":2}", "{\"tp\":\"" PARENT "\",\"b\":2}");
    expect("{\"a\":1, \"tp\" : {\"x\": [1, \"}\"]}, \"b\":2}",
           "{\"a\":1, \"tp\" : \"" PARENT "\", \"b\":2}");
    /* Readers take the last one. */
    expect("{\"tp\":1,\"tp\":2}", "{\"tp\":1,\"tp\":\"" PARENT "\"}");
}

static void what_only_looks_like_the_field_stays(void **state)
{
    (void)state;
    expect("{\"a\":\"tp\"}", "{\"a\":\"tp\",\"tp\":\"" PARENT "\"}");
    expect("{\"a\":{\"tp\":1}}", "{\"a\":{\"tp\":1},\"tp\":\"" PARENT "\"}");
    expect("{\"tpx\":1,\"t\":2}", "{\"tpx\":1,\"t\":2,\"tp\":\"" PARENT "\"}");
    expect("{\"\\\"tp\":\"\\\\\",\"b\":\"}\\\",\"}",
           "{\"\\\"tp\":\"\\\\\",\"b\":\"}\\\",\",\"tp\":\"" PARENT "\"}");
    expect("{\"a\":[[{}],\"]\"],\"b\":{\"c\":[{\"tp\":3}]}}",
           "{\"a\":[[{}],\"]\"],\"b\":{\"c\":[{\"tp\":3}]},\"tp\":\"" PARENT "\"}");
}

static void what_is_no_object_goes_out_as_it_is(void **state)
{
    (void)state;
    expect("", NULL);
    expect("text", NULL);
    expect("[{\"tp\":1}]", NULL);
    expect("{\"tp\":1", NULL);
    expect("{\"tp\":1}}", NULL);
    expect("{\"tp\"", NULL);
    expect("{\"a\":\"\xff\"}", NULL);
    expect("7", NULL);
}

static void a_name_that_cannot_be_written_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "", "a.b", "a\"", "a\\", "a\n" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        weir__lineage_out out;
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_E_CONFIG, weir__lineage_out_open(&out, names[i], "it", &error));
        assert_non_null(strstr(error.text, "traceparent"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_put_behind_the_other_fields),
        cmocka_unit_test(it_takes_the_place_of_what_is_there),
        cmocka_unit_test(what_only_looks_like_the_field_stays),
        cmocka_unit_test(what_is_no_object_goes_out_as_it_is),
        cmocka_unit_test(a_name_that_cannot_be_written_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
