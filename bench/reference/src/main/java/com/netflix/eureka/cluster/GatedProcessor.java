package com.netflix.eureka.cluster;

import com.netflix.eureka.util.batcher.TaskProcessor;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/**
 * The rule with the gate: the released processor, and around it one counter for
 * the peer. Read timeouts and network failures count, a success resets the
 * counter. The failure that is the limit's in a row, and every one after it, is a
 * PermanentError: its tasks are dropped, where the released processor has them
 * sent again until they expire. A 503 is a peer that answers, and does not count.
 *
 * <p>Zowe's API Mediation Layer put such a counter into a PeerEurekaNode of its
 * own (apiml.discovery.maxPeerRetries, 10). That class is in no public registry of
 * released artifacts, so this is the rule, not Zowe's code. Zowe's differs in
 * this: a 503 and a read timeout count there, but are retried even at the limit;
 * only network failures are given up.
 */
final class GatedProcessor implements TaskProcessor<ReplicationTask> {

    private static final int UNAVAILABLE = 503;

    private final TaskProcessor<ReplicationTask> released;
    private final int limit;
    private final IntSupplier status;
    private final AtomicInteger failures = new AtomicInteger();

    /** @param status HTTP status of this thread's latest request, 0 without an answer */
    GatedProcessor(TaskProcessor<ReplicationTask> released, int limit, IntSupplier status) {
        this.released = released;
        this.limit = limit;
        this.status = status;
    }

    @Override
    public ProcessingResult process(ReplicationTask task) {
        return judge(released.process(task));
    }

    @Override
    public ProcessingResult process(List<ReplicationTask> tasks) {
        return judge(released.process(tasks));
    }

    // The released processor says PermanentError of what it drops by itself: such
    // a peer answers, or the fault is not the network's
    private ProcessingResult judge(ProcessingResult result) {
        if (result == ProcessingResult.Success) {
            failures.set(0);
        } else if (result != ProcessingResult.PermanentError && status.getAsInt() != UNAVAILABLE) {
            int row = failures.updateAndGet(count -> Math.min(count + 1, limit));
            return row < limit ? result : ProcessingResult.PermanentError;
        }
        return result;
    }
}
