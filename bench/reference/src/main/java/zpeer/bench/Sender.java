package zpeer.bench;

import com.netflix.appinfo.InstanceInfo;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.LogManager;

/**
 * Netflix Eureka's replication, as released: each event becomes a task in the
 * PeerEurekaNode of every peer, and goes there by its HTTP client as JSON. Does
 * what the lines of standard input say, and prints one line for each, as
 * bench_sender does with zpeer.
 *
 * <pre>
 * Sender --peer URL… [--instances N] [--workers N] [--buffer N] [--batch N]
 *        [--linger-ms N] [--read-timeout-ms N] [--connect-timeout-ms N] [--pending N]
 *
 * register                        everything, at every peer
 * flood heartbeats|registers TASKS [PATIENCE_S]
 * count N                         only the first N peers count from now on
 * trickle PER_SECOND SECONDS      registers, with System.nanoTime as timestamp, in microseconds
 * pending N                       so many heartbeats, without waiting
 * memory
 * quit
 * </pre>
 *
 * A flood is a closed loop: no peer that counts has more than --pending tasks in
 * its buffer, by default the most that neither overflow nor replace each other.
 * The batcher sends 500 ms after a task came, or at once when its buffer is full,
 * which is one task more. To stop just there raises the rate by a quarter at most,
 * and takes a look into the buffer: the next task costs the oldest.
 *
 * <p>The thread that makes the events takes 2 to 5 % of the CPU seconds beside what
 * PeerEurekaNode does in it, counting next to nothing. No server's registry is
 * behind it, and nothing is logged: both spare the reference work.
 *
 * <p>Registers and heartbeats expire after the 30 s of the instances' renewal
 * interval; the batcher drops them then.
 */
public final class Sender {

    private static final double PATIENCE_SECONDS = 2;

    // The first request of a JVM takes seconds on a busy machine
    private static final double START_SECONDS = 60;

    private final Peers peers;
    private final InstanceInfo[] instances;
    private int next;

    private Sender(Settings settings) {
        instances = Instances.make(settings.instances);
        peers = new Peers(settings);
    }

    // Each after all the others, so that none meets its like in a buffer
    private InstanceInfo nextInstance() {
        InstanceInfo info = instances[next];
        next = (next + 1) % instances.length;
        return info;
    }

    // Ends when all of it is confirmed, or nothing has been for so long
    private void flood(Peers.Event event, long events, double patienceSeconds) throws Throwable {
        Patience patience = new Patience(peers::confirmed, patienceSeconds);
        long left = events;
        boolean going = true;
        while (going && (left > 0 || peers.busy())) {
            for (long room = Math.min(peers.room(), left); room > 0; room--) {
                peers.send(event, nextInstance());
                left--;
            }
            going = patience.rest();
        }
    }

    private String register() throws Throwable {
        long start = System.nanoTime();
        long confirmed = peers.confirmed();
        next = 0;
        flood(Peers.REGISTER, instances.length, START_SECONDS);
        return String.format("registered seconds=%.3f confirmed=%d",
                (System.nanoTime() - start) / 1e9, peers.confirmed() - confirmed);
    }

    private String flood(String kind, long events, double patienceSeconds) throws Throwable {
        Peers.Event event = switch (kind) {
            case "heartbeats" -> Peers.HEARTBEAT;
            case "registers" -> Peers.REGISTER;
            default -> throw new IllegalArgumentException("unknown kind " + kind);
        };
        double cpu = Usage.cpuSeconds();
        long confirmed = peers.confirmed();
        long start = System.nanoTime();
        flood(event, events, patienceSeconds);
        double seconds = (System.nanoTime() - start) / 1e9;
        return String.format("flood kind=%s tasks=%d confirmed=%d seconds=%.3f cpu_seconds=%.3f"
                        + " rss_mb=%.1f peak_mb=%.1f",
                kind, events * peers.counted(), peers.confirmed() - confirmed, seconds,
                Usage.cpuSeconds() - cpu, Usage.rssMb(), Usage.peakMb());
    }

    // Copies: a task sends its instance as it is when its batch is sent
    private String trickle(double perSecond, double seconds) throws Throwable {
        long events = Math.round(perSecond * seconds);
        double cpu = Usage.cpuSeconds();
        long start = System.nanoTime();
        for (long i = 0; i < events; i++) {
            long at = start + (long) (i * 1e9 / perSecond);
            for (long wait; (wait = at - System.nanoTime()) > 0;) {
                LockSupport.parkNanos(wait);
            }
            InstanceInfo info = new InstanceInfo(nextInstance());
            info.setLastDirtyTimestamp(System.nanoTime() / 1000);
            peers.send(Peers.REGISTER, info);
        }
        Patience patience = new Patience(peers::confirmed, PATIENCE_SECONDS);
        while (peers.busy() && patience.rest()) {
            // Nothing else to do
        }
        return String.format("trickle sent=%d seconds=%.3f cpu_seconds=%.3f", events,
                (System.nanoTime() - start) / 1e9, Usage.cpuSeconds() - cpu);
    }

    private String pending(int events) throws Throwable {
        for (int i = 0; i < events; i++) {
            peers.send(Peers.HEARTBEAT, nextInstance());
        }
        return String.format("pending sent=%d", events);
    }

    private static String memory() {
        System.gc();
        return String.format("memory rss_mb=%.1f peak_mb=%.1f heap_mb=%.1f", Usage.rssMb(),
                Usage.peakMb(), Usage.heapMb());
    }

    private String answer(String[] words) throws Throwable {
        return switch (words[0]) {
            case "register" -> register();
            case "flood" -> flood(words[1], Long.parseLong(words[2]),
                    words.length > 3 ? Double.parseDouble(words[3]) : PATIENCE_SECONDS);
            case "count" -> {
                peers.count(Integer.parseInt(words[1]));
                yield "counting";
            }
            case "trickle" -> trickle(Double.parseDouble(words[1]), Double.parseDouble(words[2]));
            case "pending" -> pending(Integer.parseInt(words[1]));
            case "memory" -> memory();
            default -> throw new IllegalArgumentException("unknown command " + words[0]);
        };
    }

    private void obey(BufferedReader input) throws Throwable {
        for (String line; (line = input.readLine()) != null && !line.equals("quit");) {
            try {
                System.out.println(answer(line.split(" ")));
            } catch (IndexOutOfBoundsException e) {
                throw new IllegalArgumentException(line + ": " + e.getMessage(), e);
            }
        }
    }

    public static void main(String[] arguments) {
        Locale.setDefault(Locale.ROOT);
        LogManager.getLogManager().reset(); // Jersey's, as slf4j-nop is Eureka's
        try {
            Settings settings = Settings.parse(arguments);
            Sender sender = new Sender(settings);
            System.out.printf("ready instances=%d pending=%d %s%n", settings.instances,
                    settings.pending(), settings);
            sender.obey(new BufferedReader(new InputStreamReader(System.in)));
        } catch (IllegalArgumentException e) {
            System.err.println("Sender: " + e.getMessage());
            System.exit(2);
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }
}
