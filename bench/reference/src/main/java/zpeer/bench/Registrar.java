package zpeer.bench;

import com.netflix.appinfo.InstanceInfo;
import com.netflix.appinfo.InstanceInfo.ActionType;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;

import java.util.List;

/**
 * Carries events out in a registry, and tells the node of every peer at once, as
 * PeerAwareInstanceRegistryImpl does: an event about an instance that is not there
 * is nobody's business.
 */
final class Registrar {

    private final Registry registry;
    private final List<Peer> peers;

    Registrar(Registry registry, List<Peer> peers) {
        this.registry = registry;
        this.peers = peers;
    }

    /** What a node is told. */
    private interface Call {
        void make(Peer peer) throws Throwable;
    }

    private void tell(Call call) throws Throwable {
        for (Peer peer : peers) {
            call.make(peer);
        }
    }

    // The incoming copy goes out, even when a newer one stays
    void register(InstanceInfo info) throws Throwable {
        info.setActionType(ActionType.ADDED);
        registry.register(info);
        tell(peer -> peer.node.register(info));
    }

    void heartbeat(String app, String id) throws Throwable {
        InstanceInfo info = registry.instances.get(id);
        if (info != null) {
            InstanceStatus override = registry.overrides.get(id);
            tell(peer -> peer.node.heartbeat(app, id, info, override, false));
        }
    }

    void cancel(String app, String id) throws Throwable {
        registry.overrides.remove(id);
        if (registry.instances.remove(id) != null) {
            tell(peer -> peer.node.cancel(app, id));
        }
    }

    void statusUpdate(String app, String id, InstanceStatus status, long timestamp)
            throws Throwable {
        InstanceInfo info = registry.instances.get(id);
        if (info != null) {
            registry.overrides.put(id, status);
            change(info, status, status, timestamp);
            tell(peer -> peer.node.statusUpdate(app, id, status, info));
        }
    }

    void deleteStatusOverride(String app, String id, InstanceStatus status, long timestamp)
            throws Throwable {
        InstanceInfo info = registry.instances.get(id);
        if (info != null) {
            registry.overrides.remove(id);
            change(info, status, InstanceStatus.UNKNOWN, timestamp);
            tell(peer -> peer.node.deleteStatusOverride(app, id, info));
        }
    }

    private static void change(InstanceInfo info, InstanceStatus status, InstanceStatus override,
                               long timestamp) {
        info.setOverriddenStatus(override);
        info.setStatusWithoutDirty(status);
        info.setActionType(ActionType.MODIFIED);
        info.setLastDirtyTimestamp(Math.max(timestamp, info.getLastDirtyTimestamp()));
    }
}
