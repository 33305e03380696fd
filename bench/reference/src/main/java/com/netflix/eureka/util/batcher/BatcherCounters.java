package com.netflix.eureka.util.batcher;

import java.lang.reflect.Field;
import java.util.Map;

/**
 * What the released batcher counts about itself. It shows these figures only to
 * a metrics registry, and some of them summed over all peers; here each batcher's
 * own are read from its fields.
 */
public final class BatcherCounters {

    private final AcceptorExecutor<?, ?> acceptor;
    private final TaskExecutors.TaskExecutorMetrics results;

    /**
     * Must be made before another batcher of the same name is: the results are
     * found by name.
     */
    public BatcherCounters(TaskDispatcher<?, ?> batcher, String name) {
        try {
            acceptor = (AcceptorExecutor<?, ?>)
                    field(batcher.getClass(), "val$acceptorExecutor").get(batcher);
            Map<?, ?> all = (Map<?, ?>) field(TaskExecutors.class, "registeredMonitors").get(null);
            results = (TaskExecutors.TaskExecutorMetrics) all.get(name);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("not the batcher of eureka-core 2.0.4", e);
        }
    }

    private static Field field(Class<?> owner, String name) throws NoSuchFieldException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /** Tasks it was given. */
    public long accepted() {
        return acceptor.acceptedTasks.get();
    }

    /** Tasks dropped since their time was over. */
    public long expired() {
        return acceptor.expiredTasks.get();
    }

    /** Tasks replaced by newer ones of the same id; these are not lost. */
    public long superseded() {
        return acceptor.overriddenTasks.get();
    }

    /** Tasks dropped since the buffer was full. */
    public long overflowed() {
        return acceptor.queueOverflows.get();
    }

    /** Tasks dropped since their batch met a PermanentError. */
    public long givenUp() {
        return results.numberOfPermanentError.get();
    }

    /** Tasks that nobody will send any more, and that no newer one stands for. */
    public long dropped() {
        return expired() + overflowed() + givenUp();
    }
}
