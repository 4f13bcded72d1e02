/*
 * settings_support.h - configurations from texts, and what is wrong with them as lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_SETTINGS_SUPPORT_H
#define WEIR_TEST_SETTINGS_SUPPORT_H

#include "../engine/fault_support.h"

#include "settings/config.h"

enum { TEST_CORES = 4 };

/* On a machine of four cores, without its environment. Never NULL. */
static inline weir_config *test_config(const char *text)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_config_options options = { .struct_size = sizeof(options),
                                          .ignore_environment = true };
    const weir__request request = { .name = "t.conf",
                                    .text = text,
                                    .text_size = strlen(text),
                                    .options = &options,
                                    .cores = TEST_CORES };
    weir_config *config = weir__config_make(&request, &error);
    test_error_none(&error);
    assert_non_null(config);
    return config;
}

/* All lines that `weir config check` would print. */
static inline void test_problems(const weir_config *config, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < config->problems.count; i++) {
        used += weir__problem_format(&config->problems.items[i], out + used, size - used);
        assert_true(used + 2 < size);
        out[used++] = '\n';
        out[used] = '\0';
    }
}

/* The text has exactly these problems. */
static inline void test_says(const char *text, const char *wanted)
{
    char said[8000];
    weir_config *config = test_config(text);
    test_problems(config, said, sizeof(said));
    assert_string_equal(wanted, said);
    weir_config_destroy(config);
}

/* A config that must be good; warnings are not looked at. */
static inline weir_config *test_parse(const char *text)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_config *config = weir_config_parse("t.conf", text, strlen(text),
                                            WEIR_CONFIG(.ignore_environment = true), &error);
    test_error_none(&error);
    assert_non_null(config);
    return config;
}

static inline weir_status test_nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

#endif /* WEIR_TEST_SETTINGS_SUPPORT_H */
