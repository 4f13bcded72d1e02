/*
 * connect/yaml_build.h - builds a tree from the events of a YAML parser: scalars, lists and
 * mappings as they begin and end, aliases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_YAML_BUILD_H
#define WEIR_CONNECT_YAML_BUILD_H

#include "connect/yaml.h"

/* A mapping or a list that has begun. */
typedef struct weir__yaml_frame {
    weir__node *node;
    weir__text tag; /* one's own; NULL: none, or one of YAML's */
    bool has_key;   /* a mapping: the next event is the value of `key` */
    bool drop;      /* of a key that was refused */
    bool merge;     /* of the key << */
    weir__text key;
    weir__origin key_origin;
    weir__node *merges;   /* a list of what << named; NULL: nothing */
    weir__origin *places; /* of the keys, in the order of the members */
    size_t place_count, place_capacity;
} weir__yaml_frame;

typedef struct weir__yaml_builder {
    weir__tree *tree;
    weir__problems *problems;
    weir__node *anchors;      /* an object: by name, what it was last given to */
    weir__yaml_frame *frames; /* depth_max of them */
    uint32_t depth, depth_max;
    size_t alias_size_left;
} weir__yaml_builder;

/* What an event says of a value: its anchor and its tag are NULL if it has none. */
typedef struct weir__yaml_value {
    weir__origin origin;
    weir__text anchor, tag, text;
    bool plain; /* a scalar without quotes */
} weir__yaml_value;

/* False: no memory. */
bool weir__yaml_build_open(weir__yaml_builder *b);
void weir__yaml_build_close(weir__yaml_builder *b);

/* False: to go on is of no use, see the problems. */
bool weir__yaml_build_scalar(weir__yaml_builder *b, const weir__yaml_value *value);
bool weir__yaml_build_begin(weir__yaml_builder *b, weir__kind kind, const weir__yaml_value *value);
bool weir__yaml_build_end(weir__yaml_builder *b);
bool weir__yaml_build_alias(weir__yaml_builder *b, const weir__yaml_value *value);

#endif /* WEIR_CONNECT_YAML_BUILD_H */
