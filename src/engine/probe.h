/*
 * engine/probe.h - places where bpftrace, SystemTap and perf can look in: a nop each, until
 * somebody does (sys/sdt.h; docs/guide/tracing.md has what each of them tells).
 *
 * What they are given is at hand in registers or in plain memory beside: a probe loads nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_PROBE_H
#define WEIR_ENGINE_PROBE_H

#if defined(__has_include) && !defined(WEIR_NO_PROBES) && !defined(WEIR_SIMULATED)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define WEIR__PROBES 1
#endif
#endif

#ifdef WEIR__PROBES
#define WEIR__PROBE1(name, a) DTRACE_PROBE1(weir, name, a)
#define WEIR__PROBE2(name, a, b) DTRACE_PROBE2(weir, name, a, b)
#define WEIR__PROBE3(name, a, b, c) DTRACE_PROBE3(weir, name, a, b, c)
#define WEIR__PROBE4(name, a, b, c, d) DTRACE_PROBE4(weir, name, a, b, c, d)
#else
#define WEIR__PROBE1(name, a) ((void)0)
#define WEIR__PROBE2(name, a, b) ((void)0)
#define WEIR__PROBE3(name, a, b, c) ((void)0)
#define WEIR__PROBE4(name, a, b, c, d) ((void)0)
#endif

/* Of a processor, where no handle is at hand: read where it lies, if at all, without a load. */
#define WEIR__PROBE_ID(processor) (*(const uint64_t *)(const void *)&(processor)->id)

/* Of `drop`. */
#define WEIR__PROBE_DROP_NEWEST 1
#define WEIR__PROBE_DROP_OLDEST 2

#endif /* WEIR_ENGINE_PROBE_H */
