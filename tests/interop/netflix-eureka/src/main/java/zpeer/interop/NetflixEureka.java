package zpeer.interop;

import com.netflix.eureka.GzipEncodingEnforcingFilter;
import com.netflix.eureka.ServerRequestAuthFilter;
import com.netflix.eureka.StatusFilter;
import com.netflix.eureka.resources.EurekaServerContextBinder;
import jakarta.servlet.Filter;
import jakarta.ws.rs.ext.ReaderInterceptor;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.servlets.DefaultServlet;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.glassfish.jersey.message.GZipEncoder;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.servlet.ServletContainer;

/**
 * Netflix's Eureka server in an embedded Tomcat, at /eureka/v2/: the listener, the filters and the resources
 * that its web archive declares, which is not in Maven's central registry. One argument: the port on 127.0.0.1.
 *
 * <p>Bodies may be gzipped in both directions, as in that archive. Answers are compressed by Tomcat, since
 * Jersey 3 would compress anew what Eureka compressed itself.
 */
public final class NetflixEureka {
    private NetflixEureka () {
    }

    public static void main (String[] args) throws Exception {
        Tomcat tomcat = new Tomcat ();
        tomcat.setBaseDir (System.getProperty ("java.io.tmpdir"));
        Connector connector = new Connector ();
        connector.setProperty ("address", "127.0.0.1");
        connector.setProperty ("compression", "on");
        connector.setProperty ("compressibleMimeType", "application/json,application/xml");
        connector.setPort (Integer.parseInt (args[0]));
        tomcat.setConnector (connector);
        Context context = tomcat.addContext ("/eureka", null);
        Tomcat.addServlet (context, "default", new DefaultServlet ());
        context.addServletMappingDecoded ("/", "default");
        context.addApplicationListener (CloudBootStrap.class.getName ());
        filter (context, new StatusFilter (), "/*");
        filter (context, new ServerRequestAuthFilter (), "/*");
        filter (context, new GzipEncodingEnforcingFilter (), "/v2/apps/*");
        filter (context, new ServletContainer (resources ()), "/*");
        tomcat.start ();
        //  Tomcat runs on without a context that failed
        if (!context.getState ().isAvailable ())
            System.exit (1);
        System.out.println ("Tomcat started on port " + connector.getLocalPort ());
        tomcat.getServer ().await ();
    }

    private static void filter (Context context, Filter filter, String pattern) {
        FilterDef definition = new FilterDef ();
        definition.setFilterName (filter.getClass ().getSimpleName ());
        definition.setFilterClass (filter.getClass ().getName ());
        definition.setFilter (filter);
        context.addFilterDef (definition);
        FilterMap map = new FilterMap ();
        map.setFilterName (definition.getFilterName ());
        map.addURLPattern (pattern);
        context.addFilterMap (map);
    }

    private static ResourceConfig resources () {
        return new ResourceConfig ().packages ("com.netflix")
                .register (new EurekaServerContextBinder ())
                .register (GZipEncoder.class, ReaderInterceptor.class);
    }
}
