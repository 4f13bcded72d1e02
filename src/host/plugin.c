/*
 * host/plugin.c - shared objects that bring component types.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerrordesc_np */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/processwide.h"
#include "host/descriptor.h"
#include "host/host.h"

#define SYMBOL "weir_plugin_descriptor"

/* ---- load hooks: once in the life of the process ---- */

typedef struct loaded {
    struct loaded *next;
    const weir_plugin *plugin;
} loaded;

static WEIR__PROCESS_WIDE weir__mutex loading; /* held while such a hook runs */
static WEIR__PROCESS_WIDE loaded *all_loaded;

static bool was_loaded(const weir_plugin *plugin)
{
    const loaded *l = all_loaded;
    while (l != NULL && l->plugin != plugin) {
        l = l->next;
    }
    return l != NULL;
}

/* Of one that is older than the member: none. */
static weir_status (*load_hook(const weir_plugin *plugin))(weir_error *)
{
    return plugin->struct_size >= offsetof(weir_plugin, load) + sizeof(plugin->load) ? plugin->load
                                                                                     : NULL;
}

/* loading held. */
static weir_status load(const weir_plugin *plugin, weir_error *error)
{
    weir_error own = WEIR_ERROR_INIT;
    /* The process keeps it, not an engine. */
    loaded *l = weir__allocate(weir__allocator_default(), sizeof(*l));
    if (l == NULL) {
        return weir__error_memory(error, "weir_plugin_load");
    }
    weir__context_handler_begin(); /* it is a hook: it must not wait for us */
    const weir_status status = load_hook(plugin)(&own);
    weir__context_handler_end();
    if (status != WEIR_OK) {
        weir__release(weir__allocator_default(), l, sizeof(*l));
        char path[96];
        snprintf(path, sizeof(path), "plugin %s", plugin->name);
        return weir__error_at(error, status < 0 ? status : WEIR_E_FAILED, path,
                              "its load failed: %s",
                              own.status != 0 ? own.text : weir_status_text(status));
    }
    *l = (loaded){ all_loaded, plugin };
    all_loaded = l;
    return WEIR_OK;
}

weir_status weir__plugin_load_once(const weir_plugin *plugin, weir_error *error)
{
    if (load_hook(plugin) == NULL) {
        return WEIR_OK;
    }
    weir__mutex_lock(&loading);
    const weir_status status = was_loaded(plugin) ? WEIR_OK : load(plugin, error);
    weir__mutex_unlock(&loading);
    return status;
}

/* ---- files ---- */

/* Whoever may write it may have weir run anything. */
static weir_status check_writers(const char *path, const char *whose, const struct stat *info,
                                 weir_error *error)
{
    if ((info->st_mode & (S_IWGRP | S_IWOTH)) == 0) {
        return WEIR_OK;
    }
    return weir__error_at(error, WEIR_E_INVALID, path,
                          "%s may be written by %s (mode %03o): chmod %s it, if you trust what is "
                          "there",
                          whose, (info->st_mode & S_IWOTH) != 0 ? "everybody" : "its group",
                          (unsigned)(info->st_mode & 0777), "go-w");
}

/* `real` has no links in it. */
static weir_status check_file(const char *path, const char *real, weir_error *error)
{
    struct stat info;
    char folder[PATH_MAX];
    if (stat(real, &info) != 0) {
        return weir__error_system(error, errno, path, "cannot be looked at: %s",
                                  strerrordesc_np(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return weir__error_at(error, WEIR_E_INVALID, path, "is no regular file");
    }
    weir_status status = check_writers(path, "the file", &info, error);
    if (status != WEIR_OK) {
        return status;
    }
    snprintf(folder, sizeof(folder), "%s", real);
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        slash[slash == folder ? 1 : 0] = '\0';
    }
    if (stat(folder, &info) != 0) {
        return weir__error_system(error, errno, path, "its folder cannot be looked at: %s",
                                  strerrordesc_np(errno));
    }
    return check_writers(path, "its folder", &info, error);
}

/* What the linker says, without the path, which stands before it anyway. */
static const char *linker_text(const char *real)
{
    const char *text = dlerror(); /* NOLINT(concurrency-mt-unsafe): glibc keeps one a thread */
    if (text == NULL) {
        return "no reason is given";
    }
    const size_t length = strlen(real);
    return strncmp(text, real, length) == 0 && strncmp(text + length, ": ", 2) == 0
               ? text + length + 2
               : text;
}

static weir_status open_real(const char *path, const char *real, const weir_plugin **out,
                             weir_error *error)
{
    /* All symbols now: one that is missing is an error here, not a crash at the first use. */
    void *handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, path, "cannot be loaded: %s",
                              linker_text(real));
    }
    const weir_plugin *plugin = dlsym(handle, SYMBOL);
    if (plugin == NULL) {
        dlclose(handle);
        return weir__error_at(error, WEIR_E_INVALID, path,
                              "is no plugin of weir's: it exports no " SYMBOL);
    }
    weir_error found = WEIR_ERROR_INIT;
    const weir_status status = weir_plugin_check(plugin, &found);
    if (status != WEIR_OK) {
        weir__error_at(error, status, path, "%s: %s", found.path, found.text);
        dlclose(handle);
        return status;
    }
    *out = plugin; /* the handle is never given back */
    return WEIR_OK;
}

weir_status weir_plugin_open(const char *path, const weir_plugin **out, weir_error *error)
{
    char real[PATH_MAX];
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (path == NULL || path[0] == '\0' || out == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_plugin_open",
                              "needs the path of a shared object, and where to put its descriptor");
    }
    *out = NULL;
    if (realpath(path, real) == NULL) {
        return weir__error_system(error, errno, path, "cannot be found: %s",
                                  strerrordesc_np(errno));
    }
    const weir_status status = check_file(path, real, error);
    return status == WEIR_OK ? open_real(path, real, out, error) : status;
}

weir_status weir_plugin_load(weir_engine *engine, const char *path, weir_error *error)
{
    const weir_plugin *plugin;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_plugin_load.engine",
                              "is no usable engine");
    }
    const weir_status status = weir_plugin_open(path, &plugin, error);
    return status == WEIR_OK ? weir_plugin_register(engine, plugin, error) : status;
}
