package zpeer.interop;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.InstanceInfo;
import com.netflix.appinfo.MyDataCenterInstanceConfig;
import com.netflix.appinfo.providers.EurekaConfigBasedInstanceInfoProvider;
import com.netflix.config.ConfigurationManager;
import com.netflix.discovery.DefaultEurekaClientConfig;
import com.netflix.discovery.DiscoveryClient;
import com.netflix.discovery.shared.Application;
import com.netflix.discovery.shared.transport.jersey3.Jersey3TransportClientFactories;

/**
 * Reads a registry as the users of Eureka do, with Netflix's client. Arguments: the base URL and the name of an
 * application. Prints a line for each of its instances: id, status, address, port. Exit status 1 if there is
 * no registry to be had.
 */
public final class EurekaReader {
    private EurekaReader () {
    }

    public static void main (String[] args) {
        set ("serviceUrl.default", args[0]);
        set ("registration.enabled", false);
        set ("shouldEnforceFetchRegistryAtInit", true);
        set ("shouldFilterOnlyUpInstances", false);
        MyDataCenterInstanceConfig config = new MyDataCenterInstanceConfig ("reader.");
        DiscoveryClient client = new DiscoveryClient (
                new ApplicationInfoManager (config, new EurekaConfigBasedInstanceInfoProvider (config).get ()),
                new DefaultEurekaClientConfig ("reader."), new Jersey3TransportClientFactories ());
        Application application = client.getApplication (args[1]);
        if (application != null)
            application.getInstances ().forEach (EurekaReader::print);
        client.shutdown ();
    }

    /** The namespace sets this client apart from the one in eureka-client.properties. */
    private static void set (String name, Object value) {
        ConfigurationManager.getConfigInstance ().setProperty ("reader." + name, value);
    }

    private static void print (InstanceInfo info) {
        System.out.println (String.join (" ", info.getId (), info.getStatus ().toString (), info.getIPAddr (),
                String.valueOf (info.getPort ())));
    }
}
