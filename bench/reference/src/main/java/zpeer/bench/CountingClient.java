package zpeer.bench;

import com.netflix.discovery.shared.transport.EurekaHttpResponse;
import com.netflix.discovery.shared.transport.decorator.EurekaHttpClientDecorator;
import com.netflix.eureka.cluster.HttpReplicationClient;
import com.netflix.eureka.cluster.protocol.ReplicationList;
import com.netflix.eureka.cluster.protocol.ReplicationListResponse;
import com.netflix.eureka.resources.ASGResource.ASGStatus;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Passes everything on to the client of a peer, and counts what becomes of its batches. */
final class CountingClient extends EurekaHttpClientDecorator implements HttpReplicationClient {

    private final HttpReplicationClient client;
    private final ThreadLocal<Integer> status = ThreadLocal.withInitial(() -> 0);

    private final AtomicLong attempts = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong burntNs = new AtomicLong();
    private final AtomicLong confirmed = new AtomicLong();
    private final AtomicLong itemsInFlight = new AtomicLong();
    private final AtomicInteger inFlight = new AtomicInteger();

    CountingClient(HttpReplicationClient client) {
        this.client = client;
    }

    // An exception, another status than 2xx, and an answer without a list are
    // failures: the processor makes nothing else of them
    @Override
    public EurekaHttpResponse<ReplicationListResponse> submitBatchUpdates(ReplicationList list) {
        int items = list.getReplicationList().size();
        boolean done = false;
        status.set(0);
        attempts.incrementAndGet();
        inFlight.incrementAndGet();
        itemsInFlight.addAndGet(items);
        long start = System.nanoTime();
        try {
            EurekaHttpResponse<ReplicationListResponse> response = client.submitBatchUpdates(list);
            status.set(response.getStatusCode());
            done = response.getStatusCode() / 100 == 2 && response.getEntity() != null;
            return response;
        } finally {
            inFlight.decrementAndGet();
            itemsInFlight.addAndGet(-items); // Before they are confirmed, see Peer.pending
            if (done) {
                confirmed.addAndGet(items);
            } else {
                burntNs.addAndGet(System.nanoTime() - start);
                failed.incrementAndGet();
            }
        }
    }

    @Override
    public EurekaHttpResponse<Void> statusUpdate(String asgName, ASGStatus newStatus) {
        return client.statusUpdate(asgName, newStatus);
    }

    @Override
    protected <R> EurekaHttpResponse<R> execute(RequestExecutor<R> executor) {
        return executor.execute(client);
    }

    @Override
    public void shutdown() {
        client.shutdown();
    }

    /** HTTP status of this thread's latest batch, 0 without an answer. */
    int lastStatus() {
        return status.get();
    }

    /** Batches sent so far. */
    long attempts() {
        return attempts.get();
    }

    /** Those of them that did not succeed, */
    long failed() {
        return failed.get();
    }

    /** and how long they took together, each in a worker of its own. */
    double burntSeconds() {
        return burntNs.get() / 1e9;
    }

    /** Items of the batches that succeeded. */
    long confirmed() {
        return confirmed.get();
    }

    /** Batches that are on their way now, */
    int inFlight() {
        return inFlight.get();
    }

    /** and their items. */
    long itemsInFlight() {
        return itemsInFlight.get();
    }
}
