// What the peers on the JVM share: arguments, loads, the check of what arrives, RESULT lines.
// The same as peer.h is for C and C++; see there.
//
// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

final class Peer {
    static final int PRODUCERS = 4;
    static final long FAN_IN = 10_000_000, PINGS = 4_000_000, DELIVERIES = 20_000_000;
    static final int WAKES = 5_000, IDLE_THREADS = 8;
    static final double IDLE_S = 5;
    // The first runs are the compiler's; then each run prints its figures, and the median counts.
    static final int WARM_UP_RUNS = 3, RUNS = 3;

    final String name, workload, variant;
    final int threads;
    final double scale;

    Peer(String name, String[] arguments) {
        if (arguments.length < 2) {
            throw fail(2, "usage: " + name + " WORKLOAD THREADS [SCALE [VARIANT]]");
        }
        this.name = name;
        workload = arguments[0];
        threads = Integer.parseInt(arguments[1]);
        scale = arguments.length > 2 ? Double.parseDouble(arguments[2]) : 1;
        variant = arguments.length > 3 ? arguments[3] : "";
    }

    static RuntimeException fail(int status, String what) {
        System.err.println(what);
        System.err.flush();
        Runtime.getRuntime().halt(status);
        return new IllegalStateException(what);
    }

    RuntimeException unknown() {
        return fail(2, name + ": does no " + workload + " " + variant);
    }

    long scaled(long full, long unit) {
        return unit * Math.max(1, (long) (full * scale) / unit);
    }

    void result(String metric, double value) {
        System.out.printf("RESULT %s %s %s %.6g%n", name, workload, metric, value);
    }

    interface Run {
        long elapsedNs() throws Exception;
    }

    void resultRate(long events, Run run) throws Exception {
        for (int i = 0; i < WARM_UP_RUNS + RUNS; i++) {
            double elapsed = run.elapsedNs();
            if (i >= WARM_UP_RUNS) {
                result("events_per_s", events / elapsed * 1e9);
                result("ns_per_event", elapsed / events);
            }
        }
    }

    void resultLatency(long[] samples) {
        Arrays.sort(samples);
        int n = samples.length;
        result("p50_ns", samples[n / 2]);
        result("p95_ns", samples[n * 95 / 100]);
        result("p99_ns", samples[n * 99 / 100]);
        result("p999_ns", samples[n * 999 / 1000]);
    }

    // Of all threads, by the scheduler's clock: what counts in ticks sees no idle thread.
    static double cpuMs() throws Exception {
        double sum = 0;
        for (File task : new File("/proc/self/task").listFiles()) {
            Path path = task.toPath().resolve("schedstat");
            sum += Double.parseDouble(Files.readString(path).split(" ")[0]) / 1e6;
        }
        return sum;
    }

    void resultIdle() throws Exception {
        double seconds = Math.max(0.2, IDLE_S * scale);
        Thread.sleep(1500);
        double before = cpuMs();
        Thread.sleep((long) (seconds * 1000));
        result("cpu_ms", (cpuMs() - before) / seconds);
    }

    // One receiver's count of what came, by sender.
    static final class Order {
        private final long[] next = new long[PRODUCERS];
        private long count, wrong;

        long arrived(int sender, long number) {
            if (number != next[sender]) {
                wrong++;
            }
            next[sender] = number + 1;
            return ++count;
        }

        void check(long expected) {
            if (count != expected || wrong != 0) {
                throw fail(1, "WRONG " + count + " events of " + expected + ", " + wrong
                    + " out of order");
            }
        }
    }

    static Thread[] start(int count, java.util.function.IntConsumer body) {
        Thread[] threads = new Thread[count];
        for (int p = 0; p < count; p++) {
            int sender = p;
            threads[p] = new Thread(() -> body.accept(sender));
            threads[p].start();
        }
        return threads;
    }
}
