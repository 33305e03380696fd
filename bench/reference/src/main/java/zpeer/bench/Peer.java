package zpeer.bench;

import com.netflix.eureka.cluster.PeerEurekaNode;
import com.netflix.eureka.cluster.PeerNodes;
import com.netflix.eureka.registry.PeerAwareInstanceRegistry;
import com.netflix.eureka.resources.DefaultServerCodecs;
import com.netflix.eureka.transport.Jersey3ReplicationClient;
import com.netflix.eureka.util.batcher.BatcherCounters;

import java.net.URI;

/**
 * A peer as Jersey3PeerEurekaNodes makes it: the released PeerEurekaNode with the
 * released HTTP client and JSON codec. Only a {@link CountingClient} is between
 * node and client, and a gate or other limits if the settings ask for them.
 */
final class Peer {

    final String url;
    final PeerEurekaNode node;
    final CountingClient client;
    final BatcherCounters batcher;

    /** From one thread only, see BatcherCounters. */
    Peer(String url, Settings settings, PeerAwareInstanceRegistry registry) {
        String host = URI.create(url).getHost();
        this.url = url;
        client = new CountingClient(Jersey3ReplicationClient.createReplicationClient(
                settings, new DefaultServerCodecs(settings), url));
        node = settings.usual()
                ? new PeerEurekaNode(registry, host, url, client, settings)
                : PeerNodes.tuned(registry, host, url, client, settings, settings.batch,
                        settings.lingerMs);
        if (settings.gate > 0) {
            PeerNodes.gate(node, host, client, settings, settings.gate, client::lastStatus);
        }
        batcher = PeerNodes.counters(node);
    }

    /** Tasks that are neither confirmed nor dropped. */
    long open() {
        return batcher.accepted() - batcher.dropped() - batcher.superseded() - client.confirmed();
    }

    /**
     * Those of them that are in the batcher's buffer: what a worker sends has left
     * it. Never too few, since a batch stops being in flight before it is confirmed.
     */
    long pending() {
        return open() - client.itemsInFlight();
    }
}
