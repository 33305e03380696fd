package zpeer.bench;

import com.netflix.appinfo.DataCenterInfo;
import com.netflix.appinfo.InstanceInfo;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;
import com.netflix.appinfo.InstanceInfo.PortType;
import com.netflix.appinfo.LeaseInfo;
import com.netflix.appinfo.MyDataCenterInfo;

/** The instances of bench/load.c, member for member. */
final class Instances {

    private static final long TIMESTAMP = 1_700_000_000_000L;
    private static final int SERVICES = 50;
    private static final int METADATA = 6;
    private static final LeaseInfo LEASE = LeaseInfo.Builder.newBuilder()
            .setRenewalIntervalInSecs(30).setDurationInSecs(90).build();
    private static final DataCenterInfo OWN = new MyDataCenterInfo(DataCenterInfo.Name.MyOwn);

    private Instances() {
    }

    static InstanceInfo[] make(int count) {
        InstanceInfo[] all = new InstanceInfo[count];
        for (int i = 0; i < count; i++) {
            all[i] = make(String.format("host%05d.example.net", i),
                    String.format("service-%02d", i % SERVICES));
        }
        return all;
    }

    private static InstanceInfo make(String host, String service) {
        String page = "http://" + host + ":8080/";
        InstanceInfo.Builder builder = InstanceInfo.Builder.newBuilder()
                .setInstanceId(host + ":" + service + ":8080")
                .setAppName(service)
                .setHostName(host)
                .setIPAddr("192.0.2.41")
                .setStatus(InstanceStatus.UP)
                .setVIPAddress(service.toUpperCase())
                .setSecureVIPAddress(service.toUpperCase())
                .setPort(8080)
                .enablePort(PortType.UNSECURE, true)
                .setSecurePort(8443)
                .enablePort(PortType.SECURE, false)
                .setDataCenterInfo(OWN)
                .setLeaseInfo(LEASE)
                .setHomePageUrl(null, page)
                .setStatusPageUrl(null, page + "actuator/info")
                .setHealthCheckUrls(null, page + "actuator/health", null)
                .setLastUpdatedTimestamp(TIMESTAMP)
                .setLastDirtyTimestamp(TIMESTAMP)
                .setActionType(InstanceInfo.ActionType.ADDED);
        for (int i = 0; i < METADATA; i++) {
            builder.add("apiml.route." + i + ".url", "/api/v1/service/route");
        }
        return builder.build();
    }
}
