package zpeer.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.netflix.appinfo.InstanceInfo;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;
import com.netflix.discovery.converters.wrappers.CodecWrappers;
import com.netflix.discovery.converters.wrappers.DecoderWrapper;

import java.io.IOException;

/**
 * Reads what <code>zpeerctl feed</code> reads, a JSON value a line: events with
 * the names of ZPEER/1 or of Eureka's peer replication, whole requests of the
 * latter, and instances.
 */
final class Events {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final DecoderWrapper CODEC =
            CodecWrappers.getDecoder(CodecWrappers.LegacyJacksonJson.class);

    private final Registrar registrar;

    Events(Registrar registrar) {
        this.registrar = registrar;
    }

    /** @throws IllegalArgumentException if it is no event */
    void read(String line) throws Throwable {
        JsonNode value;
        try {
            value = MAPPER.readTree(line);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
        if (value.has("replicationList")) {
            for (JsonNode item : value.get("replicationList")) {
                readEvent(item);
            }
        } else if (value.has("instance")) {
            registrar.register(info(value.get("instance")));
        } else if (value.has("action")) {
            readEvent(value);
        } else if (value.has("hostName")) {
            registrar.register(info(value));
        } else {
            throw new IllegalArgumentException("neither an event nor an instance");
        }
    }

    private void readEvent(JsonNode event) throws Throwable {
        String app = text(event, "app", "appName");
        String id = text(event, "id", "id");
        switch (event.path("action").asText()) {
            case "Register" -> registrar.register(registered(event, app, id));
            case "Heartbeat" -> registrar.heartbeat(app, id);
            case "Cancel" -> registrar.cancel(app, id);
            case "StatusUpdate" -> registrar.statusUpdate(app, id, status(event), timestamp(event));
            case "DeleteStatusOverride" ->
                registrar.deleteStatusOverride(app, id, status(event), timestamp(event));
            default -> throw new IllegalArgumentException("unknown action " + event.get("action"));
        }
    }

    // What the event says of its instance counts more than the instance's own
    private static InstanceInfo registered(JsonNode event, String app, String id)
            throws IOException {
        JsonNode info = event.has("info") ? event.get("info") : event.get("instanceInfo");
        if (!(info instanceof ObjectNode object)) {
            throw new IllegalArgumentException("a Register without an instance");
        }
        if (app != null) {
            object.put("app", app);
        }
        if (id != null) {
            object.put("instanceId", id);
        }
        if (event.has("lastDirtyTimestamp")) {
            object.put("lastDirtyTimestamp", timestamp(event));
        }
        return info(object);
    }

    private static InstanceInfo info(JsonNode value) throws IOException {
        return CODEC.decode(MAPPER.createObjectNode().set("instance", value).toString(),
                InstanceInfo.class);
    }

    private static String text(JsonNode event, String name, String other) {
        return event.path(event.has(name) ? name : other).textValue();
    }

    private static InstanceStatus status(JsonNode event) {
        return InstanceStatus.toEnum(event.path("status").asText());
    }

    private static long timestamp(JsonNode event) {
        return event.path("lastDirtyTimestamp").asLong();
    }
}
