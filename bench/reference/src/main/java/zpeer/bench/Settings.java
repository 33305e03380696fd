package zpeer.bench;

import com.netflix.eureka.DefaultEurekaServerConfig;
import com.netflix.eureka.cluster.PeerNodes;

import java.util.ArrayList;
import java.util.List;

/**
 * The command line, and with it the server's configuration: Netflix's defaults,
 * but for what the command line says.
 */
final class Settings extends DefaultEurekaServerConfig {

    final List<String> peers = new ArrayList<>();
    int instances = 1000;
    int workers = super.getMaxThreadsForPeerReplication();
    int buffer = super.getMaxElementsInPeerReplicationPool();
    int batch = PeerNodes.BATCH;
    long lingerMs = PeerNodes.LINGER_MS;
    int readTimeoutMs = super.getPeerNodeReadTimeoutMs();
    int connectTimeoutMs = super.getPeerNodeConnectTimeoutMs();
    int maxTimeMs = super.getMaxTimeForReplication();
    int gate;
    int pending;

    /** @throws IllegalArgumentException if it is wrong */
    static Settings parse(String[] arguments) {
        Settings settings = new Settings();
        for (int i = 0; i < arguments.length; i += 2) {
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(arguments[i] + " needs a value");
            }
            settings.set(arguments[i], arguments[i + 1]);
        }
        if (settings.peers.isEmpty()) {
            throw new IllegalArgumentException("--peer is missing");
        }
        return settings;
    }

    private void set(String name, String value) {
        switch (name) {
            case "--peer" -> peers.add(value);
            case "--instances" -> instances = number(name, value);
            case "--workers" -> workers = number(name, value);
            case "--buffer" -> buffer = number(name, value);
            case "--batch" -> batch = number(name, value);
            case "--linger-ms" -> lingerMs = number(name, value);
            case "--read-timeout-ms" -> readTimeoutMs = number(name, value);
            case "--connect-timeout-ms" -> connectTimeoutMs = number(name, value);
            case "--max-time-ms" -> maxTimeMs = number(name, value);
            case "--gate" -> gate = number(name, value);
            case "--pending" -> pending = number(name, value);
            default -> throw new IllegalArgumentException("unknown option " + name);
        }
    }

    private static int number(String name, String value) {
        try {
            return Integer.parseUnsignedInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " needs a number, not " + value);
        }
    }

    /** Whether PeerEurekaNode's public constructor does. */
    boolean usual() {
        return batch == PeerNodes.BATCH && lingerMs == PeerNodes.LINGER_MS;
    }

    /** Most tasks to have in a batcher: none falls off, none meets its like. */
    int pending() {
        return pending > 0 ? pending : Math.max(1, Math.min(buffer - 1, instances / 2));
    }

    @Override
    public int getMaxThreadsForPeerReplication() {
        return workers;
    }

    @Override
    public int getMaxElementsInPeerReplicationPool() {
        return buffer;
    }

    @Override
    public int getPeerNodeReadTimeoutMs() {
        return readTimeoutMs;
    }

    @Override
    public int getPeerNodeConnectTimeoutMs() {
        return connectTimeoutMs;
    }

    @Override
    public int getMaxTimeForReplication() {
        return maxTimeMs;
    }

    @Override
    public String toString() {
        return String.format("workers=%d buffer=%d batch=%d linger_ms=%d read_timeout_ms=%d"
                        + " connect_timeout_ms=%d max_time_ms=%d gate=%d peers=%d",
                workers, buffer, batch, lingerMs, readTimeoutMs, connectTimeoutMs, maxTimeMs,
                gate, peers.size());
    }
}
