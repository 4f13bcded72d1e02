/*
 * connect/yaml_scalar.h - what a word of YAML is: the core schema, and tags.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_YAML_SCALAR_H
#define WEIR_CONNECT_YAML_SCALAR_H

#include "connect/yaml_build.h"

/* The node of a scalar. NULL: see the problems. */
weir__node *weir__yaml_scalar(weir__yaml_builder *b, const weir__yaml_value *value);

/* Whether a tag is one of YAML's own (tag:yaml.org,2002:str); then `name` is "str". */
bool weir__yaml_tag_is_standard(weir__text tag, weir__text *name);
/* The last part of a tag: BusySpin of tag:yaml.org,2002:com.example.BusySpin. */
weir__text weir__yaml_tag_name(weir__text tag);

#endif /* WEIR_CONNECT_YAML_SCALAR_H */
