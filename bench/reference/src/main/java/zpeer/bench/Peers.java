package zpeer.bench;

import com.netflix.appinfo.InstanceInfo;

import java.util.ArrayList;
import java.util.List;

/** Everybody that events go to, and those among them that are waited for. */
final class Peers {

    /** One event about an instance, as the node of a peer is told of it. */
    interface Event {
        void tell(Peer peer, InstanceInfo info) throws Throwable;
    }

    static final Event REGISTER = (peer, info) -> peer.node.register(info);
    static final Event HEARTBEAT = (peer, info) ->
            peer.node.heartbeat(info.getAppName(), info.getId(), info, null, false);

    private final List<Peer> all = new ArrayList<>();
    private final int limit;
    private List<Peer> counted = all;

    Peers(Settings settings) {
        Registry registry = new Registry();
        for (String url : settings.peers) {
            all.add(new Peer(url, settings, registry.view()));
        }
        limit = settings.pending();
    }

    /** Only the first of them count from now on. */
    void count(int peers) {
        counted = all.subList(0, peers);
    }

    int counted() {
        return counted.size();
    }

    void send(Event event, InstanceInfo info) throws Throwable {
        for (Peer peer : all) {
            event.tell(peer, info);
        }
    }

    /** How many more events fit into the fullest buffer of those that count. */
    long room() {
        long most = 0;
        for (Peer peer : counted) {
            most = Math.max(most, peer.pending());
        }
        return limit - most;
    }

    long confirmed() {
        long sum = 0;
        for (Peer peer : counted) {
            sum += peer.client.confirmed();
        }
        return sum;
    }

    /** Whether anything is neither confirmed nor dropped. */
    boolean busy() {
        for (Peer peer : counted) {
            if (peer.open() > 0) {
                return true;
            }
        }
        return false;
    }
}
