/* sessions - what clients say, each client's lines in order with a state of its own: a client is a
 * flow, its name the key, "bye" its end. Several clients are served at once, on several workers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>

typedef struct line {
    char text[16];
} line;
WEIR_EVENT_TYPE(line, "sessions.line");

static struct client { /* a, b, c. No lock: flows of one key are never at work at the same time */
    char said[80];
    size_t length;
} clients[3];

static void note(struct client *client, const char *text)
{
    client->length += (size_t)snprintf(client->said + client->length,
                                       sizeof(client->said) - client->length, " %s", text);
}

typedef struct session {
    struct client *client;
    int lines;
} session;

static weir_status begin(void *state, weir_turn *turn, void *argument) /* before its first line */
{
    const char *name = weir_turn_flow_key(turn, NULL);
    (void)argument;
    ((session *)state)->client = &clients[name[0] - 'a']; /* the rest is zeroed */
    return WEIR_OK;
}

static weir_status on_line(void *state, weir_turn *turn, const weir_event *event)
{
    session *self = state;
    const line *l = event->data;
    self->lines++;
    note(self->client, l->text);
    return strcmp(l->text, "bye") == 0 ? weir_turn_finish(turn) : WEIR_OK;
}

static void end(void *state, weir_flow_end reason)
{
    const session *self = state;
    char text[32];
    snprintf(text, sizeof(text), "(%d, %s)", self->lines,
             reason == WEIR_FLOW_FINISHED ? "finished" : "stopped");
    note(self->client, text);
}

int main(void)
{
    static const struct {
        char client[4];
        line says;
    } script[] = { { "ada", { "hello" } },   { "bob", { "hi" } },   { "ada", { "bye" } },
                   { "cyd", { "anyone?" } }, { "bob", { "well" } }, { "ada", { "back" } } };
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.threads = 2), &error);
    weir_router sessions = weir_router_add(
        engine,
        WEIR_ROUTER(.name = "sessions", .keys = WEIR_FLOW_KEYS_BYTES, .handler = on_line,
                    .state_size = sizeof(session), .init = begin, .destroy = end, .workers = 2),
        &error);
    weir_engine_start(engine, &error);
    for (size_t i = 0; i < sizeof(script) / sizeof(script[0]) && error.status == WEIR_OK; i++) {
        const weir_event event = { &line_type, &script[i].says, .size = sizeof(line) };
        error.status = weir_router_submit_bytes(engine, sessions, script[i].client, 3, &event);
    }
    if (error.status == WEIR_OK) { /* from outside, behind what was submitted */
        error.status = weir_router_finish_bytes(engine, sessions, "bob", 3);
    }
    weir_engine_destroy(engine); /* drains, then ends the flows that are left */
    printf("ada:%s\nbob:%s\ncyd:%s\n", clients[0].said, clients[1].said, clients[2].said);
    return weir_error_print(&error);
}
