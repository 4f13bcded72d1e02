/*
 * config/text.c - see text.h. Every service takes the same number of bytes as JSON, so that both
 * spellings of a size have the same services.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVICE_MAX = 2048 };

__attribute__((format(printf, 2, 3))) static void put(config_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(text->bytes + text->size, text->capacity - text->size, format, arguments);
    va_end(arguments);
    text->size += (size_t)length;
}

static void put_json(config_text *text, unsigned i)
{
    put(text,
        "  \"service-%06u\": {\n"
        "    \"dispatchers\": [\"default\", \"io-%06u\", \"batch\"],\n"
        "    \"enabled\": %s,\n"
        "    \"endpoint\": {\"host\": \"node-%06u.example.com\", \"port\": %5u, \"tls\": true},\n"
        "    \"limits\": {\n"
        "      \"batch-max\": 16,\n"
        "      \"mailbox-max\": 100000,\n"
        "      \"retry\": {\"base-delay\": \"10 ms\", \"max-delay\": \"1 s\", \"multiplier\": "
        "1.5},\n"
        "      \"weights\": [0.25, 0.5, 1, 2, 4]\n"
        "    },\n"
        "    \"note\": \"takes orders, and hands them on; \\u00e9 is one letter, \\\"x\\\" "
        "three\",\n"
        "    \"owner\": null,\n"
        "    \"tags\": {\"region\": \"eu-west-1\", \"tier\": \"gold\"}\n"
        "  }",
        i, i, i % 2 == 0 ? "true " : "false", i, 10000 + i % 50000);
}

static void put_hocon(config_text *text, unsigned i)
{
    put(text,
        "# what service %u is for\n"
        "service-%06u {\n"
        "  dispatchers = [default, io-%06u, batch]\n"
        "  enabled = %s\n"
        "  endpoint { host = node-%06u.example.com, port = %u, tls = true }\n"
        "  limits {\n"
        "    batch-max = 16\n"
        "    mailbox-max = 100000\n"
        "    retry { base-delay = 10 ms, max-delay = 1 s, multiplier = 1.5 }\n"
        "    weights = [0.25, 0.5, 1, 2, 4]\n"
        "  }\n"
        "  note = \"takes orders, and hands them on; \\u00e9 is one letter, \\\"x\\\" three\"\n"
        "  owner = null\n"
        "  tags { region = eu-west-1, tier = gold }\n"
        "}\n",
        i, i, i, i % 2 == 0 ? "true" : "false", i, 10000 + i % 50000);
}

bool config_text_make(config_text *text, size_t size, bool hocon)
{
    *text = (config_text){ .capacity = size + 2 * (size_t)SERVICE_MAX };
    text->bytes = malloc(text->capacity);
    if (text->bytes == NULL) {
        return false;
    }
    char one[SERVICE_MAX];
    config_text probe = { .bytes = one, .capacity = sizeof(one) };
    put_json(&probe, 0);
    const unsigned services = (unsigned)(size / (probe.size + 2));
    put(text, "%s", hocon ? "" : "{\n");
    for (unsigned i = 0; i < services; i++) {
        (hocon ? put_hocon : put_json)(text, i);
        put(text, "%s", hocon ? "" : i + 1 < services ? ",\n" : "\n");
    }
    put(text, "%s", hocon ? "" : "}\n");
    text->services = services;
    return true;
}
