package zpeer.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.logging.LogManager;

/**
 * A Eureka server's replication without the server: takes events as JSON lines
 * from standard input, see {@link Events}, and replicates them to its peers by the
 * released PeerEurekaNode. Its peers' newer copies are taken in.
 *
 * <pre>
 * Node --peer URL… [--workers N] [--buffer N] [--read-timeout-ms N]
 *      [--connect-timeout-ms N] [--max-time-ms N] [--gate N]
 * </pre>
 *
 * With --gate, a peer that failed N times in a row loses the tasks of its next
 * failures: this is the rule Zowe's API Mediation Layer added, put around the
 * released ReplicationTaskProcessor in a batcher made as the node makes its own,
 * which it replaces by reflection. The released classes are unchanged. Zowe's own
 * class is in no public registry; com.netflix.eureka.cluster.GatedProcessor tells
 * the rule, and where Zowe's differs.
 *
 * <p>Prints a line that begins with <code>ready</code> and tells the settings, and
 * then a line a peer, each second and at the end:
 *
 * <pre>
 * node peer=URL seconds=   since the start
 *      attempts=           batches sent so far, those on their way included
 *      failed=             of these
 *      burnt_seconds=      that the failed ones took, one after another
 *      busy=               batches on their way
 *      tasks=              accepted by the batcher
 *      tasks_ok=           in batches that succeeded
 *      dropped=            expired + overflowed + given_up
 *      expired= overflowed= given_up=
 *      superseded=         replaced by newer ones of the same kind and instance
 *      open=               neither confirmed, nor dropped, nor superseded
 * </pre>
 *
 * <p>After the end of its input it goes on until a signal ends it; the
 * line <code>quit</code> ends it, without waiting for anything.
 */
public final class Node {

    private static final long PERIOD_MS = 1000;

    private final List<Peer> peers = new ArrayList<>();
    private final Events events;
    private final long start = System.nanoTime();

    private Node(Settings settings) {
        Registry registry = new Registry();
        for (String url : settings.peers) {
            peers.add(new Peer(url, settings, registry.view()));
        }
        events = new Events(new Registrar(registry, peers));
    }

    private synchronized void tell() {
        for (Peer peer : peers) {
            System.out.printf("node peer=%s seconds=%.3f attempts=%d failed=%d burnt_seconds=%.3f"
                            + " busy=%d tasks=%d tasks_ok=%d dropped=%d expired=%d overflowed=%d"
                            + " given_up=%d superseded=%d open=%d%n",
                    peer.url, (System.nanoTime() - start) / 1e9, peer.client.attempts(),
                    peer.client.failed(), peer.client.burntSeconds(), peer.client.inFlight(),
                    peer.batcher.accepted(), peer.client.confirmed(), peer.batcher.dropped(),
                    peer.batcher.expired(), peer.batcher.overflowed(), peer.batcher.givenUp(),
                    peer.batcher.superseded(), peer.open());
        }
        System.out.flush();
    }

    private void tellEachSecond() {
        try {
            while (true) {
                Thread.sleep(PERIOD_MS);
                tell();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // A line that is no event is told of, and the rest goes on
    private boolean obey(BufferedReader input) throws IOException {
        long number = 0;
        for (String line; (line = input.readLine()) != null;) {
            number++;
            try {
                if (line.equals("quit")) {
                    return true;
                }
                if (!line.isBlank()) {
                    events.read(line);
                }
            } catch (Throwable e) {
                System.err.println("Node: line " + number + ": " + e.getMessage());
            }
        }
        return false;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Locale.setDefault(Locale.ROOT);
        LogManager.getLogManager().reset(); // Jersey's, as slf4j-nop is Eureka's
        try {
            Settings settings = Settings.parse(arguments);
            Warmup.run();
            Node node = new Node(settings);
            System.out.println("ready " + settings);
            Thread teller = new Thread(node::tellEachSecond, "teller");
            teller.setDaemon(true);
            teller.start();
            Runtime.getRuntime().addShutdownHook(new Thread(node::tell));
            boolean quit = node.obey(new BufferedReader(
                    new InputStreamReader(System.in, StandardCharsets.UTF_8)));
            if (!quit) {
                teller.join();
            }
        } catch (IllegalArgumentException e) {
            System.err.println("Node: " + e.getMessage());
            System.exit(2);
        } catch (RuntimeException | IOException e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }
}
