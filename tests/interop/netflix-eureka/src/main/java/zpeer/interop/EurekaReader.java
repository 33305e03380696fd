package zpeer.interop;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.EurekaInstanceConfig;
import com.netflix.appinfo.InstanceInfo;
import com.netflix.appinfo.MyDataCenterInstanceConfig;
import com.netflix.appinfo.providers.EurekaConfigBasedInstanceInfoProvider;
import com.netflix.config.ConfigurationManager;
import com.netflix.discovery.DefaultEurekaClientConfig;
import com.netflix.discovery.DiscoveryClient;
import com.netflix.discovery.shared.Application;
import com.netflix.discovery.shared.transport.jersey3.Jersey3TransportClientFactories;
import java.util.logging.LogManager;

/**
 * Reads a registry as the users of Eureka do, with Netflix's client. Arguments: the base URL and the name of an
 * application. Prints a line for each of its instances: id, status, address, port. Exit status 1 if there is
 * no registry to be had, or no such application in it, 2 for other arguments.
 */
public final class EurekaReader {
    private EurekaReader () {
    }

    public static void main (String[] args) {
        if (args.length != 2)
            end (2, "usage: EurekaReader URL APPLICATION");
        //  Jersey tells of optional classes that it does not find
        LogManager.getLogManager ().reset ();
        set ("serviceUrl.default", args[0]);
        set ("registration.enabled", false);
        set ("shouldEnforceFetchRegistryAtInit", true);
        set ("shouldFilterOnlyUpInstances", false);
        DiscoveryClient client = client (new MyDataCenterInstanceConfig ("reader."));
        Application application = client.getApplication (args[1]);
        client.shutdown ();
        if (application == null)
            end (1, "no application " + args[1]);
        application.getInstances ().forEach (EurekaReader::print);
    }

    private static void end (int status, String reason) {
        System.err.println (reason);
        System.exit (status);
    }

    /** A client for the instance, configured by the properties of its namespace. */
    static DiscoveryClient client (EurekaInstanceConfig instance) {
        return new DiscoveryClient (
                new ApplicationInfoManager (instance, new EurekaConfigBasedInstanceInfoProvider (instance).get ()),
                new DefaultEurekaClientConfig (instance.getNamespace ()), new Jersey3TransportClientFactories ());
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
