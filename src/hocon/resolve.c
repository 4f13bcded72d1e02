/*
 * hocon/resolve.c - the heads of substitutions and stacks.
 *
 * Recursion is bounded by NESTING_MAX, and all work together by WORK_MAX: a document can ask for
 * more than any machine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon/resolve.h"

#include <stdarg.h>
#include <stdio.h>

#include "hocon/read.h"

/* NOLINTBEGIN(misc-no-recursion): NESTING_MAX bounds it */

/* Chains of references that are longer are resolved without recursion. */
enum { CHAIN = 100 };

enum { NESTING_MAX = 1000, WORK_MAX = 10 * 1000 * 1000, SHOWN_MAX = 6 };

weir__node weir__undefined, weir__cycling, weir__failed;

weir__node *weir__resolve_fail(weir__resolver *r, weir__origin origin, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    char path[300] = "";
    weir__where(r->document, origin, path, sizeof(path));
    weir__problems_add(r->document->problems, WEIR__ERROR, origin, path, "%s", text);
    return &weir__failed;
}

bool weir__work(weir__resolver *r, size_t amount, weir__origin origin)
{
    r->work += amount;
    if (r->work > WORK_MAX && !r->document->spent) {
        r->document->spent = true;
        weir__resolve_fail(
            r, origin,
            "resolving takes too much work: substitutions that repeat what is itself "
            "repeated grow without measure");
    }
    return !r->document->spent;
}

weir__node *weir__remembered(const weir__resolver *r, const weir__cell *cell)
{
    return cell->generation == r->document->generation ? cell->memo : NULL;
}

weir__node *weir__remember(const weir__resolver *r, weir__cell *cell, weir__node *value)
{
    cell->generation = r->document->generation;
    cell->memo = value;
    return value;
}

/* --- references ------------------------------------------------------------------------------- */

/* "${b}, ${c}": from where the cycle closed to here. */
static void describe_cycle(const weir__resolver *r, char *text, size_t size)
{
    const weir__reference *way[SHOWN_MAX];
    size_t count = 0;
    for (const weir__visit *visit = r->visit; visit != NULL; visit = visit->outer) {
        if (count < SHOWN_MAX) {
            way[count++] = visit->reference;
        }
        if (visit->reference == r->cycle) {
            break;
        }
    }
    size_t used = 0;
    text[0] = '\0';
    while (count-- > 0 && used < size) {
        const weir__written w = weir__reference_text(way[count]);
        const int more = snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", w.text);
        used += more > 0 ? (size_t)more : 0;
    }
}

static weir__node *fail_cycle(weir__resolver *r, const weir__reference *reference)
{
    char way[400];
    describe_cycle(r, way, sizeof(way));
    const weir__written w = weir__reference_text(reference);
    return weir__resolve_fail(r, reference->cell.node.origin,
                              "%s leads back to itself: a cycle of %s", w.text, way);
}

static weir__node *fail_undefined(weir__resolver *r, const weir__reference *reference)
{
    const weir__written w = weir__reference_text(reference);
    const bool single = reference->count - reference->prefix == 1;
    return weir__resolve_fail(
        r, reference->cell.node.origin,
        "%s is not defined: no such key%s; write ${?...} if it may "
        "be missing",
        w.text,
        r->document->options.ignore_environment || !single ? "" : " nor environment variable");
}

/* What lies at a path, its head not asked for; NULL: nothing. */
static weir__node *find(weir__resolver *r, const weir__text *path, size_t count,
                        const weir__context *context)
{
    weir__node *node = r->document->root;
    for (size_t i = 0; i < count; i++) {
        node = weir__head(r, node, context);
        if (node == &weir__cycling || node == &weir__failed) {
            return node;
        }
        if (node->kind != WEIR__OBJECT) {
            return NULL;
        }
        node = weir__object_get(r->document->tree, node, path[i].bytes, path[i].length);
        if (node == NULL) {
            return NULL;
        }
    }
    return node;
}

static weir__node *look_up(weir__resolver *r, const weir__reference *reference,
                           const weir__context *context)
{
    weir__node *node = find(r, reference->path, reference->count, context);
    if (node == NULL && reference->prefix > 0) {
        node = find(r, reference->path + reference->prefix, reference->count - reference->prefix,
                    context);
    }
    if (node == NULL) {
        return weir__from_environment(r, reference);
    }
    return weir__is_answer(node) ? node : weir__head(r, node, context);
}

/* The answer that a reference keeps. Nothing there because of a cycle or a look-back does not
 * count: another way may find something. */
static weir__node *conclude(weir__resolver *r, weir__reference *reference, weir__node *value,
                            bool settled)
{
    /* Whoever came here in between has the word: a substitution is resolved once. */
    weir__node *known = weir__remembered(r, &reference->cell);
    if (known != NULL) {
        return known;
    }
    if (value == &weir__cycling) {
        value = reference->optional ? &weir__undefined : fail_cycle(r, reference);
    } else if (value == &weir__undefined && !reference->optional) {
        value = fail_undefined(r, reference);
    }
    if (value == &weir__undefined && !settled) {
        return value;
    }
    return weir__remember(r, &reference->cell, value);
}

static weir__node *head_reference(weir__resolver *r, weir__reference *reference,
                                  const weir__context *context)
{
    for (const weir__visit *visit = reference->visit; visit != NULL; visit = visit->earlier) {
        if (visit->context == context) {
            r->cycle = reference;
            r->cycles++;
            return &weir__cycling;
        }
    }
    weir__visit visit = { reference, context, reference->visit, r->visit };
    reference->visit = r->visit = &visit;
    const bool touched = r->touched;
    const uint32_t cycles = r->cycles;
    r->touched = false;
    weir__node *value = look_up(r, reference, context);
    if (value == &weir__undefined && r->touched && !reference->optional) {
        /* It was not there yet. If it is there in the end, that is what was meant. */
        value = look_up(r, reference, NULL);
        value = value == &weir__cycling ? &weir__undefined : value;
    } else if (r->touched && context != NULL && !weir__is_answer(value)) {
        value = weir__keep_context(r, value, context);
    }
    const bool settled = !r->touched && r->cycles == cycles;
    r->touched |= touched;
    weir__node *known = conclude(r, reference, value, settled);
    reference->visit = visit.earlier;
    r->visit = visit.outer;
    return known;
}

/* The reference that is all there is at another one's path, if it can be seen without resolving
 * anything, and is open still. */
static weir__reference *next_of(const weir__resolver *r, const weir__reference *reference)
{
    weir__node *node = r->document->root;
    for (uint32_t i = 0; i < reference->count && node != NULL; i++) {
        const weir__text name = reference->path[i];
        node = weir__object_get(r->document->tree, node, name.bytes, name.length);
    }
    if (node == NULL || (int)node->kind != WEIR__REFERENCE) {
        return NULL;
    }
    weir__reference *next = (weir__reference *)node;
    return weir__remembered(r, &next->cell) == NULL ? next : NULL;
}

void weir__follow(weir__resolver *r, weir__reference *reference)
{
    size_t length = 0;
    weir__reference *last = reference, *next;
    while ((next = next_of(r, last)) != NULL && next != reference && next->from == NULL) {
        next->from = last;
        last = next;
        length++;
    }
    /* A circle has no far end. */
    const bool chain = next == NULL && length > CHAIN;
    while (last != reference) {
        weir__reference *before = last->from;
        last->from = NULL;
        if (chain) {
            (void)weir__head(r, &last->cell.node, NULL);
        }
        last = before;
    }
}

/* --- stacks ----------------------------------------------------------------------------------- */

static bool prepare(weir__resolver *r, weir__stack *stack)
{
    weir__hocon *document = r->document;
    if (stack->cell.generation == document->generation) {
        return true;
    }
    const size_t count = stack->count + 1;
    stack->below = (weir__node **)weir__document_memory(document, count * sizeof(weir__node *));
    stack->heads = (weir__node **)weir__document_memory(document, count * sizeof(weir__node *));
    stack->contexts =
        (const weir__context **)weir__document_memory(document, count * sizeof(weir__context *));
    if (stack->below == NULL || stack->heads == NULL || stack->contexts == NULL) {
        return false;
    }
    stack->cell.generation = document->generation;
    return true;
}

/* The context in which a layer looks at what is below it. */
static const weir__context *context_of(weir__resolver *r, weir__stack *stack, size_t limit,
                                       const weir__context *outer)
{
    /* A limit that is lowered replaces the one before. */
    if (outer != NULL && outer->stack == stack) {
        outer = outer->outer;
    }
    for (const weir__context *c = stack->contexts[limit]; c != NULL; c = c->next) {
        if (c->outer == outer) {
            return c;
        }
    }
    weir__context *context = weir__document_memory(r->document, sizeof(*context));
    if (context != NULL) {
        *context = (weir__context){ outer, stack, limit, stack->contexts[limit] };
        stack->contexts[limit] = context;
    }
    return context;
}

static weir__node *head_layer(weir__resolver *r, weir__stack *stack, size_t i,
                              const weir__context *outer)
{
    weir__node *layer = stack->layers[i];
    if (!weir__is_thunk(layer)) {
        return layer;
    }
    if (stack->heads[i] != NULL) {
        return stack->heads[i];
    }
    const weir__context *context = context_of(r, stack, i, outer);
    if (context == NULL) {
        return &weir__failed;
    }
    weir__node *head;
    if ((int)layer->kind == WEIR__CONCATENATION) {
        head = weir__head_concatenation(r, (weir__concatenation *)layer, context, true);
    } else {
        head = weir__head(r, layer, context);
        head = weir__is_answer(head) ? head : weir__keep_context(r, head, context);
    }
    if (weir__is_answer(head)) {
        return head;
    }
    if (stack->heads[i] == NULL) {
        stack->heads[i] = head;
    }
    return stack->heads[i];
}

/* Several objects, one over the other. */
static weir__node *merge_layers(weir__resolver *r, weir__stack *stack, size_t from, size_t to,
                                const weir__context *outer)
{
    weir__cell *merged =
        weir__document_cell(r->document, WEIR__OBJECT, stack->cell.node.origin, sizeof(*merged));
    if (merged == NULL) {
        return &weir__failed;
    }
    for (size_t i = from; i < to; i++) {
        weir__node *layer = head_layer(r, stack, i, outer);
        if (layer->kind == WEIR__OBJECT && !weir__overlay(r, &merged->node, layer)) {
            return &weir__failed;
        }
    }
    return &merged->node;
}

/* What the lowest `limit` layers make together. */
static weir__node *head_of_layers(weir__resolver *r, weir__stack *stack, size_t limit,
                                  const weir__context *outer)
{
    weir__node *only = NULL;
    size_t objects = 0, lowest = limit;
    bool cut = false;
    for (size_t i = limit; i-- > 0 && !cut;) {
        weir__node *layer = head_layer(r, stack, i, outer);
        if (layer == &weir__undefined) {
            continue;
        }
        if (weir__is_answer(layer)) {
            return layer;
        }
        if (layer->kind != WEIR__OBJECT) {
            if (objects == 0) {
                return layer;
            }
            cut = true;
        } else {
            only = objects++ == 0 ? layer : only;
            lowest = i;
            cut = weir__cell_of(layer)->cut;
        }
    }
    if (objects == 0) {
        return &weir__undefined;
    }
    weir__node *value = objects == 1 ? only : merge_layers(r, stack, lowest, limit, outer);
    return cut && !weir__is_answer(value) ? weir__cut(r, value) : value;
}

static bool refers_to_itself(const weir__node *layer)
{
    return ((int)layer->kind == WEIR__CONCATENATION &&
            ((const weir__concatenation *)layer)->self) ||
           ((int)layer->kind == WEIR__REFERENCE && ((const weir__reference *)layer)->self);
}

static weir__node *head_below(weir__resolver *r, weir__stack *stack, size_t limit,
                              const weir__context *outer)
{
    if (stack->below[limit] == NULL) {
        weir__node *value = head_of_layers(r, stack, limit, outer);
        if (value == &weir__cycling) {
            return value;
        }
        stack->below[limit] = value;
    }
    return stack->below[limit];
}

static weir__node *head_stack(weir__resolver *r, weir__stack *stack, const weir__context *context)
{
    if (!prepare(r, stack)) {
        return &weir__failed;
    }
    size_t limit = stack->count;
    for (const weir__context *c = context; c != NULL; c = c->outer) {
        if (c->stack == stack) {
            limit = c->limit;
            r->touched = true;
            break;
        }
    }
    /* Layers that each begin with what is below them are resolved from the lowest up: a += 1 a
     * hundred thousand times is no recursion. */
    size_t lowest = limit;
    while (stack->owner == NULL && lowest > 0 && stack->below[lowest - 1] == NULL &&
           refers_to_itself(stack->layers[lowest - 1])) {
        lowest--;
    }
    for (size_t i = lowest; i < limit && !r->document->spent; i++) {
        (void)head_below(r, stack, i, context);
    }
    return head_below(r, stack, limit, context);
}

static weir__node *head_closure(weir__resolver *r, weir__closure *closure)
{
    weir__node *value = weir__head(r, closure->inner, closure->context);
    if (value == &weir__cycling) {
        return value;
    }
    if (!weir__is_answer(value)) {
        value = weir__keep_context(r, value, closure->context);
    }
    return weir__remember(r, &closure->cell, value);
}

weir__node *weir__head(weir__resolver *r, weir__node *node, const weir__context *context)
{
    if (!weir__is_thunk(node)) {
        return node;
    }
    weir__cell *cell = weir__cell_of(node);
    weir__node *known = (int)node->kind != WEIR__STACK ? weir__remembered(r, cell) : NULL;
    if (known != NULL) {
        return known;
    }
    if (r->nesting >= NESTING_MAX && !r->document->spent) {
        r->document->spent = true;
        weir__resolve_fail(r, node->origin,
                           "substitutions lead from one to the next more than %d "
                           "times",
                           NESTING_MAX);
    }
    if (!weir__work(r, 1, node->origin)) {
        return &weir__failed;
    }
    r->nesting++;
    weir__node *value;
    switch ((int)node->kind) {
    case WEIR__REFERENCE:
        value = head_reference(r, (weir__reference *)node, context);
        break;
    case WEIR__CONCATENATION:
        value = weir__head_concatenation(r, (weir__concatenation *)node, context, false);
        break;
    case WEIR__STACK:
        value = head_stack(r, (weir__stack *)node, context);
        break;
    default:
        value = head_closure(r, (weir__closure *)node);
        break;
    }
    r->nesting--;
    return value;
}

weir__node *weir__resolve_root(weir__hocon *document)
{
    if (!weir__is_open(document->root)) {
        return document->root;
    }
    document->generation++;
    document->tree->limit = document->tree->used + document->options.resolved_size_max;
    weir__resolver r = { .document = document };
    weir__node *root = weir__settle(&r, document->root);
    document->tree->limit = 0;
    return weir__is_answer(root) ? NULL : root;
}

/* NOLINTEND(misc-no-recursion) */
