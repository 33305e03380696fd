package zpeer.bench;

import com.netflix.appinfo.InstanceInfo;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;
import com.netflix.eureka.registry.PeerAwareInstanceRegistry;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * As little of a server's registry as its PeerEurekaNodes need: instances and
 * held overrides by id. No leases, nothing expires.
 */
final class Registry {

    final Map<String, InstanceInfo> instances = new ConcurrentHashMap<>();
    final Map<String, InstanceStatus> overrides = new ConcurrentHashMap<>();

    /**
     * What a node sees of it. It asks for two things only, when a peer answers a
     * heartbeat with a newer copy of the instance: hold the copy's override, and
     * register the copy.
     */
    PeerAwareInstanceRegistry view() {
        return (PeerAwareInstanceRegistry) Proxy.newProxyInstance(Registry.class.getClassLoader(),
                new Class<?>[] {PeerAwareInstanceRegistry.class},
                (proxy, method, arguments) -> answer(method, arguments));
    }

    private Object answer(Method method, Object[] arguments) {
        switch (method.getName()) {
            case "register" -> register((InstanceInfo) arguments[0]);
            case "storeOverriddenStatusIfRequired" ->
                overrides.put((String) arguments[arguments.length - 2],
                        (InstanceStatus) arguments[arguments.length - 1]);
            default -> throw new UnsupportedOperationException(method.toString());
        }
        return null;
    }

    /** A newer copy stays, as in the released registry. */
    void register(InstanceInfo info) {
        InstanceStatus override = overrides.get(info.getId());
        if (override != null) {
            info.setOverriddenStatus(override);
            info.setStatusWithoutDirty(override);
        }
        instances.merge(info.getId(), info, (old, latest) ->
                old.getLastDirtyTimestamp() > latest.getLastDirtyTimestamp() ? old : latest);
    }
}
