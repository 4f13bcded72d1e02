/*
 * connect/yaml_none.c - in place of YAML, where libfyaml is not to be had.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/yaml.h"

bool weir__yaml_built_in(void)
{
    return false;
}

weir__tree *weir__yaml_read_text(const weir__yaml_options *options, const char *name,
                                 const char *text, size_t size, weir__problems *problems)
{
    (void)options;
    (void)text;
    (void)size;
    weir__problems_add(problems, WEIR__ERROR, (weir__origin){ .source = name }, NULL,
                       "YAML is not built into this weir: it takes libfyaml (libfyaml-dev) when "
                       "weir is built; HOCON and JSON are read without it");
    return NULL;
}
