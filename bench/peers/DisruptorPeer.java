// LMAX Disruptor as a peer: a ring with one handler is an actor on a thread of its own.
//
//     javac -cp /usr/share/java/disruptor.jar -d DIR Peer.java DisruptorPeer.java
//     java -XX:+UseParallelGC -Xms2g -Xmx2g -cp DIR:/usr/share/java/disruptor.jar DisruptorPeer \
//         WORKLOAD THREADS [SCALE [VARIANT]]
//
// Workloads: w1 (two threads) w2-external w6-parked w6-spinning w7-1 w7-4 w9-idle w11-external-1
// w11-external-10 w11-external-1000.
// A variant is WAIT-RING[-HOW]: WAIT is busy, yield or block; RING the places (1024 ... 65536);
// HOW is event (publishEvent instead of next and publish) or batchN (claims N places at once).
//
// w11: all subscribers are behind one ring. A consumer of the ring is a thread here, so there are
// THREADS of them, each of which hands every event to its share of the subscribers, one after the
// other: what a user with more subscribers than cores would write. HOW may be each: a thread for
// every subscriber, as in the library's own examples.
//
// SPDX-License-Identifier: Apache-2.0
import com.lmax.disruptor.*;
import com.lmax.disruptor.dsl.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;

public final class DisruptorPeer {
    private static final class Event {
        int sender;
        long number;
    }

    // One a producer, so that no number has to become an object.
    private static final class Filler implements EventTranslator<Event> {
        int sender;
        long number;

        @Override
        public void translateTo(Event e, long at) {
            e.sender = sender;
            e.number = number++;
        }
    }

    private static Peer peer;
    private static String wait = "busy";
    private static int places = 1 << 16, batch = 1;
    private static boolean byEvent, forEach;

    private static WaitStrategy waitStrategy() {
        switch (wait) {
            case "busy": return new BusySpinWaitStrategy();
            case "yield": return new YieldingWaitStrategy();
            case "block": return new BlockingWaitStrategy();
            default: throw peer.unknown();
        }
    }

    private static Disruptor<Event> disruptor(ProducerType type) {
        ThreadFactory daemons = r -> {
            Thread thread = new Thread(r);
            thread.setDaemon(true);
            return thread;
        };
        return new Disruptor<>(Event::new, places, daemons, type, waitStrategy());
    }

    private static void produce(RingBuffer<Event> ring, int sender, long count) {
        if (byEvent) {
            Filler filler = new Filler();
            filler.sender = sender;
            for (long n = 0; n < count; n++) {
                ring.publishEvent(filler);
            }
        } else if (batch == 1) {
            for (long n = 0; n < count; n++) {
                long at = ring.next();
                Event e = ring.get(at);
                e.sender = sender;
                e.number = n;
                ring.publish(at);
            }
        } else {
            for (long n = 0; n < count;) {
                int size = (int) Math.min(batch, count - n);
                long last = ring.next(size), first = last - size + 1;
                for (long at = first; at <= last; at++, n++) {
                    Event e = ring.get(at);
                    e.sender = sender;
                    e.number = n;
                }
                ring.publish(first, last);
            }
        }
    }

    private static long fanIn(int producers, long total) throws Exception {
        Disruptor<Event> disruptor =
            disruptor(producers == 1 ? ProducerType.SINGLE : ProducerType.MULTI);
        CountDownLatch done = new CountDownLatch(1);
        Peer.Order order = new Peer.Order();
        disruptor.handleEventsWith((e, at, last) -> {
            if (order.arrived(e.sender, e.number) == total) {
                done.countDown();
            }
        });
        RingBuffer<Event> ring = disruptor.start();
        long start = System.nanoTime();
        Thread[] threads = Peer.start(producers, p -> produce(ring, p, total / producers));
        done.await();
        long elapsed = System.nanoTime() - start;
        for (Thread thread : threads) {
            thread.join();
        }
        disruptor.halt();
        order.check(total);
        return elapsed;
    }

    // Subscribers that share a consumer of the ring: each counts, and checks the order, by itself.
    private static final class Share implements EventHandler<Event> {
        final Peer.Order[] orders;
        final long each;
        final CountDownLatch done;

        Share(int count, long each, CountDownLatch done) {
            orders = new Peer.Order[count];
            for (int i = 0; i < count; i++) {
                orders[i] = new Peer.Order();
            }
            this.each = each;
            this.done = done;
        }

        @Override
        public void onEvent(Event e, long at, boolean last) {
            for (Peer.Order order : orders) {
                if (order.arrived(e.sender, e.number) == each) {
                    done.countDown();
                }
            }
        }
    }

    private static long broadcast(int subscribers, long each) throws Exception {
        Disruptor<Event> disruptor = disruptor(ProducerType.SINGLE);
        CountDownLatch done = new CountDownLatch(subscribers);
        int consumers = forEach ? subscribers : Math.min(peer.threads, subscribers);
        Share[] shares = new Share[consumers];
        for (int i = 0; i < consumers; i++) {
            int size = subscribers / consumers + (i < subscribers % consumers ? 1 : 0);
            shares[i] = new Share(size, each, done);
        }
        disruptor.handleEventsWith(shares);
        RingBuffer<Event> ring = disruptor.start();
        long start = System.nanoTime();
        Thread[] threads = Peer.start(1, p -> produce(ring, p, each));
        done.await();
        long elapsed = System.nanoTime() - start;
        threads[0].join();
        disruptor.halt();
        for (Share share : shares) {
            for (Peer.Order order : share.orders) {
                order.check(each);
            }
        }
        return elapsed;
    }

    private static void send(RingBuffer<Event> ring, long number) {
        long at = ring.next();
        ring.get(at).number = number;
        ring.publish(at);
    }

    private static long pingPong(long rounds) throws Exception {
        Disruptor<Event> one = disruptor(ProducerType.SINGLE), two = disruptor(ProducerType.SINGLE);
        RingBuffer<Event> toOne = one.getRingBuffer(), toTwo = two.getRingBuffer();
        CountDownLatch done = new CountDownLatch(1);
        long[] due = { rounds };
        one.handleEventsWith((e, at, last) -> send(toTwo, e.number));
        two.handleEventsWith((e, at, last) -> {
            if (e.number != due[0]) {
                throw Peer.fail(1, "WRONG event " + e.number + " where " + due[0] + " was due");
            }
            if (--due[0] == 0) {
                done.countDown();
            } else {
                send(toOne, due[0]);
            }
        });
        one.start();
        two.start();
        long start = System.nanoTime();
        send(toOne, rounds);
        done.await();
        long elapsed = System.nanoTime() - start;
        one.halt();
        two.halt();
        return elapsed;
    }

    private static void wakes() throws Exception {
        int count = (int) peer.scaled(Peer.WAKES, 100), warmUp = (int) peer.scaled(2000, 100);
        long[] samples = new long[warmUp + count];
        int[] taken = { 0 };
        CountDownLatch done = new CountDownLatch(1);
        Disruptor<Event> disruptor = disruptor(ProducerType.SINGLE);
        disruptor.handleEventsWith((e, at, last) -> {
            samples[taken[0]++] = System.nanoTime() - e.number;
            if (taken[0] == samples.length) {
                done.countDown();
            }
        });
        RingBuffer<Event> ring = disruptor.start();
        for (int i = 0; i < samples.length; i++) {
            LockSupport.parkNanos(1_000_000);
            send(ring, System.nanoTime());
        }
        done.await();
        disruptor.halt();
        peer.resultLatency(java.util.Arrays.copyOfRange(samples, warmUp, samples.length));
    }

    private static void idle() throws Exception {
        for (int i = 0; i < Peer.IDLE_THREADS; i++) {
            Disruptor<Event> disruptor = disruptor(ProducerType.SINGLE);
            disruptor.handleEventsWith((e, at, last) -> { });
            disruptor.start();
        }
        peer.resultIdle();
    }

    private static void readVariant() {
        if (peer.variant.isEmpty()) {
            return;
        }
        String[] parts = peer.variant.split("-");
        wait = parts[0];
        places = parts.length > 1 ? Integer.parseInt(parts[1]) : places;
        if (parts.length > 2) {
            byEvent = parts[2].equals("event");
            forEach = parts[2].equals("each");
            batch = byEvent || forEach ? 1 : Integer.parseInt(parts[2].replace("batch", ""));
        }
    }

    public static void main(String[] arguments) throws Exception {
        peer = new Peer("disruptor", arguments);
        readVariant();
        long total = peer.scaled(Peer.FAN_IN, Peer.PRODUCERS);
        switch (peer.workload) {
            case "w1": {
                long rounds = peer.scaled(Peer.PINGS, 2) / 2;
                peer.resultRate(2 * rounds, () -> pingPong(rounds));
                break;
            }
            case "w2-external":
            case "w7-4": peer.resultRate(total, () -> fanIn(Peer.PRODUCERS, total)); break;
            case "w7-1": peer.resultRate(total, () -> fanIn(1, total)); break;
            case "w6-parked":
            case "w6-spinning": wakes(); break;
            case "w9-idle": idle(); break;
            case "w11-external-1":
            case "w11-external-10":
            case "w11-external-1000": {
                int subscribers = Integer.parseInt(peer.workload.substring("w11-external-".length()));
                long each = peer.scaled(Peer.DELIVERIES, subscribers) / subscribers;
                peer.resultRate(each * subscribers, () -> broadcast(subscribers, each));
                break;
            }
            default: throw peer.unknown();
        }
        System.exit(0);
    }
}
