// JCTools as a peer: its queues between plain threads.
//
//     javac -cp /usr/share/java/jctools-core.jar -d DIR Peer.java JctoolsPeer.java
//     java -XX:+UseParallelGC -Xms2g -Xmx2g -cp DIR:/usr/share/java/jctools-core.jar JctoolsPeer \
//         WORKLOAD THREADS [SCALE [VARIANT]]
//
// Workloads: w7-1 w7-4. Variants: array, array-drain (takes what is there in one call), and
// linked-drain (w7-4: unbounded, a new object an event).
//
// SPDX-License-Identifier: Apache-2.0
import org.jctools.queues.*;

public final class JctoolsPeer {
    private static final int PLACES = 1 << 16;

    private static final class Event {
        int sender;
        long number;
    }

    private static Peer peer;
    // With an array at most PLACES are on their way: twice as many objects are never overwritten.
    private static final Event[][] POOLS = new Event[Peer.PRODUCERS][2 * PLACES];

    private static int pause(int looks) {
        if (looks > 100) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
        return looks + 1;
    }

    private static void produce(MessagePassingQueue<Event> queue, int sender, long count,
            boolean fresh) {
        Event[] events = POOLS[sender];
        for (long n = 0; n < count; n++) {
            Event e = fresh ? new Event() : events[(int) (n & (events.length - 1))];
            e.sender = sender;
            e.number = n;
            for (int looks = 0; !queue.relaxedOffer(e);) {
                looks = pause(looks);
            }
        }
    }

    private static long fanIn(MessagePassingQueue<Event> queue, int producers, long total)
            throws Exception {
        boolean drain = peer.variant.endsWith("-drain"), fresh = peer.variant.startsWith("linked");
        Peer.Order order = new Peer.Order();
        long start = System.nanoTime();
        Thread[] threads = Peer.start(producers, p -> produce(queue, p, total / producers, fresh));
        MessagePassingQueue.Consumer<Event> take = e -> order.arrived(e.sender, e.number);
        long count = 0;
        for (int looks = 0; count < total;) {
            Event e = drain ? null : queue.relaxedPoll();
            if (e != null) {
                order.arrived(e.sender, e.number);
            }
            int taken = drain ? queue.drain(take, 256) : e != null ? 1 : 0;
            count += taken;
            looks = taken > 0 ? 0 : pause(looks);
        }
        long elapsed = System.nanoTime() - start;
        for (Thread thread : threads) {
            thread.join();
        }
        order.check(total);
        return elapsed;
    }

    private static MessagePassingQueue<Event> queue(int producers) {
        if (peer.variant.equals("linked-drain") && producers > 1) {
            return MpscLinkedQueue.newMpscLinkedQueue();
        }
        if (!peer.variant.isEmpty() && !peer.variant.equals("array")
                && !peer.variant.equals("array-drain")) {
            throw peer.unknown();
        }
        return producers == 1 ? new SpscArrayQueue<>(PLACES) : new MpscArrayQueue<>(PLACES);
    }

    public static void main(String[] arguments) throws Exception {
        peer = new Peer("jctools", arguments);
        int producers = peer.workload.equals("w7-1") ? 1 : Peer.PRODUCERS;
        if (producers > 1 && !peer.workload.equals("w7-4")) {
            throw peer.unknown();
        }
        for (Event[] pool : POOLS) {
            java.util.Arrays.setAll(pool, i -> new Event());
        }
        long total = peer.scaled(Peer.FAN_IN, Peer.PRODUCERS);
        peer.resultRate(total, () -> fanIn(queue(producers), producers, total));
    }
}
