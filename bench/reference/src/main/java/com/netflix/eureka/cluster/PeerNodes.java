package com.netflix.eureka.cluster;

import com.netflix.eureka.EurekaServerConfig;
import com.netflix.eureka.registry.PeerAwareInstanceRegistry;
import com.netflix.eureka.util.batcher.BatcherCounters;
import com.netflix.eureka.util.batcher.TaskDispatcher;
import com.netflix.eureka.util.batcher.TaskDispatchers;

import java.lang.reflect.Field;
import java.util.function.IntSupplier;

/**
 * What only the package of PeerEurekaNode can do with it. The released class
 * stays as it is.
 */
public final class PeerNodes {

    // Private constants of PeerEurekaNode
    public static final int BATCH = 250;
    public static final long LINGER_MS = 500;
    private static final long NETWORK_MS = 100;
    private static final long CONGESTION_MS = 1000;

    private PeerNodes() {
    }

    /** A node with a batch size and a delay of its own, by its own constructor. */
    public static PeerEurekaNode tuned(PeerAwareInstanceRegistry registry, String host, String url,
                                       HttpReplicationClient client, EurekaServerConfig config,
                                       int batch, long lingerMs) {
        return new PeerEurekaNode(registry, host, url, client, config, batch, lingerMs,
                NETWORK_MS, CONGESTION_MS);
    }

    /**
     * Puts a {@link GatedProcessor} into a node: its batcher makes way for one that
     * is made as the node's constructor makes it, but around that processor.
     *
     * @param status what the peer's client says of this thread's latest request,
     *               see GatedProcessor
     */
    public static void gate(PeerEurekaNode node, String host, HttpReplicationClient client,
                            EurekaServerConfig config, int limit, IntSupplier status) {
        batcher(node).shutdown();
        GatedProcessor processor =
                new GatedProcessor(new ReplicationTaskProcessor(host, client), limit, status);
        TaskDispatcher<String, ReplicationTask> gated = TaskDispatchers.createBatchingTaskDispatcher(
                node.getBatcherName(), config.getMaxElementsInPeerReplicationPool(), BATCH,
                config.getMaxThreadsForPeerReplication(), LINGER_MS, CONGESTION_MS, NETWORK_MS,
                processor);
        try {
            field().set(node, gated);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** To be called before the next node is made, see BatcherCounters. */
    public static BatcherCounters counters(PeerEurekaNode node) {
        return new BatcherCounters(batcher(node), node.getBatcherName());
    }

    private static TaskDispatcher<?, ?> batcher(PeerEurekaNode node) {
        try {
            return (TaskDispatcher<?, ?>) field().get(node);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Field field() {
        try {
            Field field = PeerEurekaNode.class.getDeclaredField("batchingDispatcher");
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException("not the PeerEurekaNode of eureka-core 2.0.4", e);
        }
    }
}
