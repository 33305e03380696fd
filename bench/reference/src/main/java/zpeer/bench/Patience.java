package zpeer.bench;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** Waits for a figure to change, as long as it changes at all. */
final class Patience {

    // A pause that is shorter by much costs more CPU than the reference
    private static final long PAUSE_NS = 2_000_000;

    private final LongSupplier figure;
    private final double seconds;
    private long latest;
    private long since = System.nanoTime();

    /** @param seconds how long the figure may stay the same */
    Patience(LongSupplier figure, double seconds) {
        this.figure = figure;
        this.seconds = seconds;
        latest = figure.getAsLong();
    }

    /** Waits a moment. False: it has been the same for too long. */
    boolean rest() {
        LockSupport.parkNanos(PAUSE_NS);
        long now = System.nanoTime();
        if (figure.getAsLong() != latest) {
            latest = figure.getAsLong();
            since = now;
        }
        return now - since < seconds * 1e9;
    }
}
