/*
 * plugin_fuzz.c - any bytes as the descriptor of a plugin: it is refused with a message, or its
 * options can be filled with their fallbacks into a struct of the size that it tells, and copied.
 *
 * Pointers of the descriptor lead to texts and rows that are made of the bytes, or are NULL: what a
 * plugin points to is readable, for as long as a struct_size can say; all else may be wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "base/memory.h"
#include "host/copy.h"
#include "host/descriptor.h"
#include "settings/config.h"
#include "weir/plugin.h"

/* In place of the one that wants the rest of its room: where a key stands is no matter here. */
const weir__node *weir__said(const weir__node *node)
{
    return node;
}

enum { ROWS_MAX = 8, GROUPS = 3, TYPES_MAX = 3, WORDS_MAX = 4 };

/* What is left of the bytes; zeros when they are used up. */
typedef struct bytes {
    const uint8_t *at;
    size_t left;
} bytes;

static uint8_t take(bytes *b)
{
    if (b->left == 0) {
        return 0;
    }
    b->left--;
    return *b->at++;
}

static size_t take_size(bytes *b)
{
    const uint8_t kind = take(b);
    const size_t small = take(b);
    return kind < 240 ? small : kind < 248 ? SIZE_MAX - small : small << (kind % 64);
}

static double take_number(bytes *b)
{
    static const double odd[] = { 0, 1, -1, 1e300, -1e300, 0.5 };
    const uint8_t n = take(b);
    if (n == 255) {
        return (double)__builtin_nan("");
    }
    return n < 128 ? odd[n % 6] : (double)n - 128;
}

/* A text of its own, or NULL; all are freed together. */
typedef struct texts {
    char *items[512];
    size_t count;
} texts;

static const char *take_text(bytes *b, texts *all)
{
    static const char *const usual[] = { "rate", "path", "to", "a", "10", "5 s", "[a, b]", "one" };
    const uint8_t n = take(b);
    if (n < 64) {
        return NULL;
    }
    if (n < 160 || all->count == sizeof(all->items) / sizeof(all->items[0])) {
        return usual[n % 8];
    }
    const size_t length = n % 24;
    char *text = malloc(length + 1);
    FUZZ_PROMISE(text != NULL);
    for (size_t i = 0; i < length; i++) {
        text[i] = (char)take(b);
    }
    text[length] = '\0';
    all->items[all->count++] = text;
    return text;
}

/* Rows of a level lead to rows of the next one only. */
typedef struct level {
    weir_option rows[ROWS_MAX];
    char behind_rows[ROWS_MAX * 4096];
    const char *words[ROWS_MAX][WORDS_MAX + 1];
} level;

typedef struct padded_type {
    weir_component_type type;
    char behind[65536];
} padded_type;

typedef struct padded_plugin {
    weir_plugin plugin;
    char behind[65536];
} padded_plugin;

static void take_rows(bytes *b, texts *all, level *levels, size_t at)
{
    for (size_t i = 0; i < ROWS_MAX; i++) {
        weir_option *row = &levels[at].rows[i];
        *row = (weir_option){ .struct_size = sizeof(*row) };
        if (take(b) == 255) {
            row->struct_size = take_size(b);
        }
        row->key = take_text(b, all);
        row->kind = (weir_option_kind)(take(b) % 20);
        row->offset = take_size(b);
        row->fallback = take_text(b, all);
        row->required = take(b) > 200;
        row->above = take(b) > 200;
        row->min = take_number(b);
        row->max = take_number(b);
        row->unit = take(b) > 250 ? -1 : take(b);
        for (size_t w = 0; w < WORDS_MAX; w++) {
            levels[at].words[i][w] = take_text(b, all);
        }
        levels[at].words[i][WORDS_MAX] = NULL;
        row->words = take(b) > 128 ? levels[at].words[i] : NULL;
        row->rows = at + 1 < GROUPS && take(b) > 64 ? levels[at + 1].rows : NULL;
        row->row_count = row->rows != NULL ? take(b) % (ROWS_MAX + 1) : take(b) % 2;
        row->item_size = take_size(b);
    }
}

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return 0;
}

static bool count_target(void *context, const char *key, weir_target *target)
{
    (*(size_t *)context)++;
    FUZZ_PROMISE(key != NULL && target->name != NULL && strlen(target->name) < 1u << 20);
    return true;
}

/* What passed the check can be used. */
static void use(const weir_component_type *type)
{
    weir__config_copy copy, again;
    weir_error error = WEIR_ERROR_INIT;
    size_t targets = 0;
    if (type->config_size > 1u << 20) {
        return; /* it could be; only not here */
    }
    const weir_allocator *allocator = weir__allocator_default();
    if (weir__config_copy_make(allocator, type, NULL, "fuzz", &copy, &error) != 0) {
        FUZZ_PROMISE(error.text[0] != '\0'); /* something is required */
        return;
    }
    (void)weir__config_targets(type, copy.config, count_target, &targets);
    FUZZ_PROMISE(copy.config == NULL ||
                 weir__config_copy_make(allocator, type, copy.config, "fuzz", &again, &error) == 0);
    if (copy.config != NULL) {
        weir__config_copy_free(allocator, &again);
    }
    weir__config_copy_free(allocator, &copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static level levels[GROUPS];
    static texts all;
    bytes b = { data, size };
    static padded_type types[TYPES_MAX];
    static padded_plugin whole;
    const weir_component_type *list[TYPES_MAX];
    all.count = 0;
    for (size_t i = GROUPS; i > 0; i--) {
        take_rows(&b, &all, levels, i - 1);
    }
    for (size_t i = 0; i < TYPES_MAX; i++) {
        types[i].type = (weir_component_type){
            .struct_size = take(&b) > 250 ? take_size(&b) : sizeof(types[i].type),
            .kind = (weir_kind)(take(&b) % 6),
            .name = take_text(&b, &all),
            .help = take_text(&b, &all),
            .state_size = take_size(&b),
            .config_size = take_size(&b),
            .options = take(&b) > 32 ? levels[0].rows : NULL,
            .option_count = take(&b) % (ROWS_MAX + 1),
            .handler = take(&b) > 64 ? handle : NULL,
        };
        list[i] = take(&b) > 8 ? &types[i].type : NULL;
    }
    whole.plugin = (weir_plugin){
        .struct_size = take(&b) > 240 ? take_size(&b) : sizeof(whole.plugin),
        .abi = take(&b) > 240 ? take(&b) : WEIR_PLUGIN_ABI,
        .weir_version = take(&b) > 240 ? take(&b) * 100u : WEIR_VERSION,
        .name = take_text(&b, &all),
        .types = take(&b) > 8 ? list : NULL,
        .type_count = take(&b) % (TYPES_MAX + 1),
    };
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_plugin_check(&whole.plugin, &error);
    FUZZ_PROMISE(status <= 0 && status == error.status);
    FUZZ_PROMISE(status == 0 || error.text[0] != '\0');
    weir_plugin read = { 0 }; /* as far as its struct_size says, so the types */
    (void)weir__options_read(&read, sizeof(read), &whole.plugin);
    for (size_t i = 0; status == 0 && i < read.type_count; i++) {
        weir_component_type known;
        FUZZ_PROMISE(weir__type_check(list[i], "", &known, &error) == 0);
        use(&known);
    }
    for (size_t i = 0; i < all.count; i++) {
        free(all.items[i]);
    }
    return 0;
}
