/*
 * weir/plugin.h - a shared object that brings component types. It exports one constant:
 *
 *     WEIR_PLUGIN = {
 *         WEIR_PLUGIN_HEAD, .name = "market", .version = "1.2.0",
 *         .types = types, .type_count = 2,
 *     };
 *
 * Loaded once, never unloaded while the process lives. Refused with a reason: another ABI, a
 * missing symbol, a file (or its folder) that others may write. A plugin links libweir or
 * libweir-sim alike.
 * In C++, weir/plugin.hpp turns exceptions into failures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_PLUGIN_H
#define WEIR_PLUGIN_H

#include "weir/component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_PLUGIN_ABI 1u /* grows only when an old plugin could not run any more */

typedef struct weir_plugin {
    size_t struct_size;
    uint32_t abi;
    uint32_t weir_version; /* of the headers it was built with */
    const char *name;
    const char *version;
    const char *help;
    const weir_component_type *const *types; /* pointers: each type may be of its own size */
    size_t type_count;
    /* Once after loading, with the first engine; may be NULL. Control. */
    weir_status (*load)(weir_error *error);
} weir_plugin;

#define WEIR_PLUGIN_HEAD                                                                           \
    .struct_size = sizeof(weir_plugin), .abi = WEIR_PLUGIN_ABI, .weir_version = WEIR_VERSION
#ifdef __cplusplus
#define WEIR_PLUGIN                                                                                \
    extern "C" __attribute__((visibility("default"))) const weir_plugin weir_plugin_descriptor
#else
#define WEIR_PLUGIN                                                                                \
    extern __attribute__((visibility("default"))) const weir_plugin weir_plugin_descriptor;        \
    const weir_plugin weir_plugin_descriptor
#endif

/* Control. Loads a shared object and registers its types with the engine, all or none. */
WEIR_API weir_status weir_plugin_load(weir_engine *engine, const char *path, weir_error *error);

/* Control. Registers a descriptor that is linked in: tests, static builds, bindings. */
WEIR_API weir_status weir_plugin_register(weir_engine *engine, const weir_plugin *plugin,
                                          weir_error *error);

/* Control. Looks at a shared object without an engine: *out lives as long as the process. */
WEIR_API weir_status weir_plugin_open(const char *path, const weir_plugin **out, weir_error *error);
/* Any. Whether a descriptor is one that this library can use; the error says what is wrong, where
 * (type, option, key). */
WEIR_API weir_status weir_plugin_check(const weir_plugin *plugin, weir_error *error);

/* Control. A type by its name, of all that is registered with the engine; NULL: none. */
WEIR_API const weir_component_type *weir_component_type_find(weir_engine *engine, const char *name);
WEIR_API void weir_component_type_visit(weir_engine *engine,
                                        bool (*visit)(void *context,
                                                      const weir_component_type *type,
                                                      const weir_plugin *from),
                                        void *context);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_PLUGIN_H */
