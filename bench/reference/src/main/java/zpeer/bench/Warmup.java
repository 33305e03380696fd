package zpeer.bench;

import com.netflix.appinfo.InstanceInfo;
import com.netflix.eureka.DefaultEurekaServerConfig;
import com.netflix.eureka.EurekaServerConfig;
import com.netflix.eureka.cluster.protocol.ReplicationInstance;
import com.netflix.eureka.cluster.protocol.ReplicationList;
import com.netflix.eureka.registry.PeerAwareInstanceRegistryImpl.Action;
import com.netflix.eureka.resources.DefaultServerCodecs;
import com.netflix.eureka.transport.Jersey3ReplicationClient;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * Has the HTTP client and the codec loaded, and some of it compiled, by sending
 * batches to a server of its own. The first request of a JVM takes seconds on a
 * busy machine, which a short read timeout would take for the peer's fault.
 */
final class Warmup {

    private static final int ROUNDS = 20;
    private static final int ITEMS = 250;
    private static final byte[] ANSWER = "{\"responseList\":[]}".getBytes(StandardCharsets.UTF_8);

    private Warmup() {
    }

    static void run() throws IOException {
        HttpServer server = HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", Warmup::answer);
        server.start();
        EurekaServerConfig config = new DefaultEurekaServerConfig();
        Jersey3ReplicationClient client = Jersey3ReplicationClient.createReplicationClient(config,
                new DefaultServerCodecs(config),
                "http://127.0.0.1:" + server.getAddress().getPort() + "/");
        ReplicationList list = list();
        for (int i = 0; i < ROUNDS; i++) {
            client.submitBatchUpdates(list);
        }
        client.shutdown();
        server.stop(0);
    }

    private static ReplicationList list() {
        ReplicationList list = new ReplicationList();
        for (InstanceInfo info : Instances.make(ITEMS)) {
            list.addReplicationInstance(new ReplicationInstance(info.getAppName(), info.getId(),
                    info.getLastDirtyTimestamp(), null, info.getStatus().name(), info,
                    Action.Register));
        }
        return list;
    }

    private static void answer(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, ANSWER.length);
        exchange.getResponseBody().write(ANSWER);
        exchange.close();
    }
}
