package zpeer.bench;

import com.netflix.eureka.util.batcher.TaskDispatcher;
import com.netflix.eureka.util.batcher.TaskDispatchers;
import com.netflix.eureka.util.batcher.TaskProcessor;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Netflix Eureka's batcher, with a processor that succeeds at once: no JSON, no
 * HTTP, no network. What it can do, and what it costs, at its default limits.
 * Prints lines of key=value pairs, as the benchmarks in C do.
 *
 * <pre>ReferenceBatcher [seconds]</pre>
 */
public final class ReferenceBatcher {

    // The reference's constants and defaults
    private static final int BUFFER = 10_000;
    private static final int BATCH = 250;
    private static final long LINGER_MS = 500;
    private static final long CONGESTION_MS = 1000;
    private static final long NETWORK_MS = 100;

    private static final long NEVER_EXPIRES_MS = 3_600_000;
    private static final int[] WORKERS = {1, 6, 20};
    private static final int PENDING = 100_000;
    private static final int BURST = 500_000;
    private static final double PATIENCE_SECONDS = 15;

    private ReferenceBatcher() {
    }

    /** Takes what it is given, and notes how long it was on its way. */
    private static final class Sink implements TaskProcessor<Long> {

        final AtomicLong taken = new AtomicLong();
        private final long[] samples;
        private final AtomicInteger used = new AtomicInteger();

        Sink(int capacity) {
            samples = new long[capacity];
        }

        @Override
        public ProcessingResult process(Long sentAt) {
            return process(List.of(sentAt));
        }

        @Override
        public ProcessingResult process(List<Long> sentAt) {
            long now = System.nanoTime();
            if (samples.length > 0) {
                for (long at : sentAt) {
                    int index = used.getAndIncrement();
                    if (index < samples.length) {
                        samples[index] = now - at;
                    }
                }
            }
            taken.addAndGet(sentAt.size());
            return ProcessingResult.Success;
        }

        double percentileMs(double p) {
            int count = Math.min(used.get(), samples.length);
            long[] sorted = Arrays.copyOf(samples, count);
            Arrays.sort(sorted);
            return count == 0 ? 0 : sorted[(int) (p * (count - 1))] / 1e6;
        }
    }

    private static TaskDispatcher<String, Long> dispatcher(int buffer, int workers,
                                                           TaskProcessor<Long> sink) {
        return TaskDispatchers.createBatchingTaskDispatcher(
                "bench", buffer, BATCH, workers, LINGER_MS, CONGESTION_MS, NETWORK_MS, sink);
    }

    // As the reference names a task
    private static String id(long number) {
        return "heartbeat#SERVICE-" + number % 50 + "/host" + number
                + ".example.net:service-" + number % 50 + ":8080";
    }

    private static void submit(TaskDispatcher<String, Long> to, long number, long sentAt) {
        to.process(id(number), sentAt, System.currentTimeMillis() + NEVER_EXPIRES_MS);
    }

    private static void await(Sink sink, long tasks, double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        while (sink.taken.get() < tasks && System.nanoTime() < end) {
            LockSupport.parkNanos(100_000);
        }
    }

    // At most one task less than the buffer holds is unfinished, so that none
    // falls off its end. The first half of the time does not count.
    private static void throughput(int workers, double seconds) {
        Sink sink = new Sink(0);
        TaskDispatcher<String, Long> to = dispatcher(BUFFER, workers, sink);
        long sent = 0, takenBefore = 0;
        long start = System.nanoTime(), end = start + (long) (seconds * 2e9);
        boolean warm = false;
        while (System.nanoTime() < end) {
            if (!warm && System.nanoTime() > start + (long) (seconds * 1e9)) {
                warm = true;
                takenBefore = sink.taken.get();
                start = System.nanoTime();
            }
            if (sent - sink.taken.get() < BUFFER - 1) {
                submit(to, sent++, 0L);
            } else {
                LockSupport.parkNanos(100_000);
            }
        }
        double rate = (sink.taken.get() - takenBefore) * 1e9 / (System.nanoTime() - start);
        to.shutdown();
        System.out.printf("reference_throughput buffer=%d workers=%d tasks_per_second=%.0f%n",
                BUFFER, workers, rate);
    }

    // With a buffer for all of them: from the first that is submitted to the last
    // that is taken. The first of two bursts does not count.
    private static void burst(int workers) {
        Sink sink = new Sink(0);
        TaskDispatcher<String, Long> to = dispatcher(2 * BURST, workers, sink);
        double rate = 0;
        for (int turn = 1; turn <= 2; turn++) {
            long start = System.nanoTime();
            for (int i = 0; i < BURST; i++) {
                submit(to, i, 0L);
            }
            await(sink, (long) turn * BURST, PATIENCE_SECONDS);
            rate = BURST * 1e9 / (System.nanoTime() - start);
        }
        boolean all = sink.taken.get() == 2L * BURST;
        to.shutdown();
        System.out.printf("reference_throughput buffer=%d workers=%d tasks_per_second=%.0f%n",
                2 * BURST, workers, all ? rate : 0);
    }

    private static void latency(int perSecond, int workers, double seconds) {
        int total = (int) (perSecond * seconds);
        Sink sink = new Sink(total);
        TaskDispatcher<String, Long> to = dispatcher(BUFFER, workers, sink);
        long start = System.nanoTime();
        for (int i = 0; i < total; i++) {
            long at = start + i * 1_000_000_000L / perSecond, wait;
            while ((wait = at - System.nanoTime()) > 0) {
                LockSupport.parkNanos(wait);
            }
            submit(to, i, System.nanoTime());
        }
        await(sink, total, PATIENCE_SECONDS);
        to.shutdown();
        System.out.printf("reference_latency per_second=%d workers=%d samples=%d p50_ms=%.2f"
                        + " p99_ms=%.2f%n",
                perSecond, workers, sink.taken.get(), sink.percentileMs(0.5),
                sink.percentileMs(0.99));
    }

    private static long used() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(100);
        }
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    // One worker holds a batch for ever; what comes after it is pending. Each
    // task is its time of sending, 24 bytes; the rest is the batcher's, its id
    // included.
    private static void memory() throws InterruptedException {
        CountDownLatch hold = new CountDownLatch(1);
        TaskProcessor<Long> stuck = new TaskProcessor<>() {
            @Override
            public ProcessingResult process(Long task) {
                return process(List.of(task));
            }

            @Override
            public ProcessingResult process(List<Long> tasks) {
                try {
                    hold.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                return ProcessingResult.Success;
            }
        };
        TaskDispatcher<String, Long> to = dispatcher(10 * PENDING, 1, stuck);
        long before = used();
        for (int i = 0; i < PENDING; i++) {
            submit(to, i, System.nanoTime());
        }
        Thread.sleep(2 * LINGER_MS);
        System.out.printf("reference_memory pending=%d bytes_per_task=%.0f%n",
                PENDING, (used() - before) / (double) PENDING);
        hold.countDown();
        to.shutdown();
    }

    public static void main(String[] args) throws InterruptedException {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 5;
        for (int workers : WORKERS) {
            throughput(workers, seconds);
        }
        for (int workers : WORKERS) {
            burst(workers);
        }
        latency(1000, WORKERS[2], 2 * seconds);
        memory();
        System.exit(0);
    }
}
