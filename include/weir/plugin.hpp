/*
 * weir/plugin.hpp - components in C++17: a class becomes a component type, and what it throws
 * becomes a failure with its text. An exception must never pass through weir, which is C: that ends
 * the process (with a report that names the processor).
 *
 *     struct settings { int64_t above; };
 *     constexpr weir_option rows[] = {
 *         weir::key(WEIR_OPTION_INT, offsetof(settings, above), "above").with_fallback("10"),
 *     };
 *
 *     class checker {
 *     public:
 *         checker(weir_component *self, const settings &s);    // init; may throw
 *         weir_status handle(weir_turn *turn, const weir_event *event);
 *         // and, where it has them: start, start_complete, do_work, stop, commit, flush, finish
 *     };                                                       // its destructor is tear_down
 *
 *     constexpr weir_component_type type =
 *         weir::component<checker, settings>(WEIR_KIND_PROCESSOR, "checker", rows);
 *     constexpr const weir_component_type *types[] = { &type };
 *     WEIR_PLUGIN = weir::plugin("checks", "1.0.0", types);
 *
 * Exceptions: weir::failure carries its status; std::bad_alloc is E_NOMEM; any other is E_FAILED.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_PLUGIN_HPP
#define WEIR_PLUGIN_HPP

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "weir/plugin.h"
#include "weir/turn.h"

namespace weir {

/* `throw weir::failure(WEIR_FULL, "no room for it")`. */
class failure : public std::exception {
public:
    failure(weir_status status, std::string text) : status_(status), text_(std::move(text)) {}
    weir_status status() const noexcept { return status_; }
    const char *what() const noexcept override { return text_.c_str(); }

private:
    weir_status status_;
    std::string text_;
};

/* Calls `code`, which answers a status; an exception goes to `tell(status, text)`, whose answer
 * counts then. */
template <class Code, class Tell>
weir_status guarded(Code &&code, Tell &&tell) noexcept
{
    try {
        return code();
    } catch (const failure &e) {
        return tell(e.status() != WEIR_OK ? e.status() : WEIR_E_FAILED, e.what());
    } catch (const std::bad_alloc &) {
        return tell(WEIR_E_NOMEM, "out of memory (std::bad_alloc)");
    } catch (const std::exception &e) {
        return tell(WEIR_E_FAILED, e.what());
    } catch (...) {
        return tell(WEIR_E_FAILED, "an exception that is no std::exception");
    }
}

/* In a handler of one's own: `return weir::guard(turn, [&] { ...; return WEIR_OK; });`. */
template <class Code>
weir_status guard(weir_turn *turn, Code &&code) noexcept
{
    return guarded(std::forward<Code>(code), [turn](weir_status status, const char *text) {
        return weir_turn_fail(turn, status, text);
    });
}

/* In a hook that has an error. */
template <class Code>
weir_status guard(weir_error *error, Code &&code) noexcept
{
    return guarded(std::forward<Code>(code), [error](weir_status status, const char *text) {
        (void)weir_error_set(error, status, "exception", text);
        return status;
    });
}

/* In any other code of a component. */
template <class Code>
weir_status guard(weir_component *self, Code &&code) noexcept
{
    return guarded(std::forward<Code>(code), [self](weir_status status, const char *text) {
        weir_component_report(self, status, text);
        return status;
    });
}

/* An option row, step by step; C++17 has no designated initialisers. */
struct key : weir_option {
    constexpr key(weir_option_kind kind_, std::size_t offset_, const char *key_)
        : weir_option{ sizeof(weir_option), key_, kind_, offset_, nullptr, false,   false, 0, 0, 0,
                       nullptr,             nullptr, nullptr, nullptr, 0, 0 }
    {
    }
    constexpr key with_fallback(const char *text) const
    {
        key k = *this;
        static_cast<weir_option &>(k).fallback = text;
        return k;
    }
    constexpr key with_required() const
    {
        key k = *this;
        static_cast<weir_option &>(k).required = true;
        return k;
    }
    constexpr key with_bounds(double least, double most) const
    {
        key k = *this;
        k.min = least;
        k.max = most;
        return k;
    }
    constexpr key with_words(const char *const *list) const
    {
        key k = *this;
        static_cast<weir_option &>(k).words = list;
        return k;
    }
    constexpr key with_help(const char *text) const
    {
        key k = *this;
        static_cast<weir_option &>(k).help = text;
        return k;
    }
};

namespace detail {

#define WEIR_HPP_HAS(name, expression)                                                             \
    template <class T, class = void>                                                               \
    struct has_##name : std::false_type {};                                                        \
    template <class T>                                                                             \
    struct has_##name<T, std::void_t<decltype(expression)>> : std::true_type {};

WEIR_HPP_HAS(start, std::declval<T &>().start())
WEIR_HPP_HAS(start_complete, std::declval<T &>().start_complete())
WEIR_HPP_HAS(do_work, std::declval<T &>().do_work(std::declval<weir_ns &>()))
WEIR_HPP_HAS(stop, std::declval<T &>().stop())
WEIR_HPP_HAS(commit, std::declval<T &>().commit(std::uint64_t{}))
WEIR_HPP_HAS(handle, std::declval<T &>().handle(std::declval<weir_turn *>(),
                                                std::declval<const weir_event *>()))
WEIR_HPP_HAS(flush, std::declval<T &>().flush())
WEIR_HPP_HAS(finish, std::declval<T &>().finish(std::declval<weir_turn *>()))
#undef WEIR_HPP_HAS

struct nothing {};

/* The hooks of a class: `state` is where it lives. */
template <class T, class Config>
struct hooks {
    static T &of(void *state) { return *static_cast<T *>(state); }

    static weir_status init(void *state, weir_component *self, const void *config,
                            weir_error *error) noexcept
    {
        return guard(error, [&] {
            if constexpr (std::is_same_v<Config, nothing>) {
                (void)config;
                new (state) T(self);
            } else {
                new (state) T(self, *static_cast<const Config *>(config));
            }
            return weir_status{ WEIR_OK };
        });
    }

    static weir_status start(void *state, weir_component *, weir_error *error) noexcept
    {
        return guard(error, [&] {
            of(state).start();
            return weir_status{ WEIR_OK };
        });
    }

    static weir_status start_complete(void *state, weir_component *, weir_error *error) noexcept
    {
        return guard(error, [&] {
            of(state).start_complete();
            return weir_status{ WEIR_OK };
        });
    }

    static std::int32_t do_work(void *state, weir_component *self, weir_ns *next) noexcept
    {
        return guarded([&] { return weir_status{ of(state).do_work(*next) }; },
                       [self](weir_status status, const char *text) {
                           weir_component_report(self, status, text);
                           return status < 0 ? status : weir_status{ WEIR_E_FAILED };
                       });
    }

    static void stop(void *state, weir_component *self) noexcept
    {
        (void)guard(self, [&] {
            of(state).stop();
            return weir_status{ WEIR_OK };
        });
    }

    static void tear_down(void *state, weir_component *) noexcept { of(state).~T(); }

    static void commit(void *state, weir_component *self, std::uint64_t position) noexcept
    {
        (void)guard(self, [&] {
            of(state).commit(position);
            return weir_status{ WEIR_OK };
        });
    }

    static weir_status handle(void *state, weir_turn *turn, const weir_event *event) noexcept
    {
        return guard(turn, [&] { return weir_status{ of(state).handle(turn, event) }; });
    }

    static weir_status flush(void *state, weir_component *self) noexcept
    {
        return guard(self, [&] { return weir_status{ of(state).flush() }; });
    }

    static weir_status finish(void *state, weir_turn *turn) noexcept
    {
        return guard(turn, [&] { return weir_status{ of(state).finish(turn) }; });
    }
};

template <class T, class Config>
constexpr weir_component_type component(weir_kind kind, const char *name)
{
    static_assert(alignof(T) <= 64, "a component's memory is aligned to 64 bytes");
    using made = hooks<T, Config>;
    weir_component_type type{};
    type.struct_size = sizeof(weir_component_type);
    type.kind = kind;
    type.name = name;
    type.state_size = sizeof(T);
    type.init = made::init;
    type.tear_down = made::tear_down;
    if constexpr (has_start<T>::value) {
        type.start = made::start;
    }
    if constexpr (has_start_complete<T>::value) {
        type.start_complete = made::start_complete;
    }
    if constexpr (has_do_work<T>::value) {
        type.do_work = made::do_work;
    }
    if constexpr (has_stop<T>::value) {
        type.stop = made::stop;
    }
    if constexpr (has_commit<T>::value) {
        type.commit = made::commit;
    }
    if constexpr (has_handle<T>::value) {
        type.handler = made::handle;
    }
    if constexpr (has_flush<T>::value) {
        type.flush = made::flush;
    }
    if constexpr (has_finish<T>::value) {
        type.finish = made::finish;
    }
    return type;
}

} // namespace detail

/* A class with options; its constructor is T(weir_component *, const Config &). */
template <class T, class Config, std::size_t N>
constexpr weir_component_type component(weir_kind kind, const char *name,
                                        const weir_option (&options)[N])
{
    weir_component_type type = detail::component<T, Config>(kind, name);
    type.config_size = sizeof(Config);
    type.options = options;
    type.option_count = N;
    return type;
}

/* One without; its constructor is T(weir_component *). */
template <class T>
constexpr weir_component_type component(weir_kind kind, const char *name)
{
    return detail::component<T, detail::nothing>(kind, name);
}

template <std::size_t N>
constexpr weir_plugin plugin(const char *name, const char *version,
                             const weir_component_type *const (&types)[N])
{
    weir_plugin p{};
    p.struct_size = sizeof(weir_plugin);
    p.abi = WEIR_PLUGIN_ABI;
    p.weir_version = WEIR_VERSION;
    p.name = name;
    p.version = version;
    p.types = types;
    p.type_count = N;
    return p;
}

} // namespace weir

#endif /* WEIR_PLUGIN_HPP */
