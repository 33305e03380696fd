package zpeer.interop;

import com.netflix.appinfo.AmazonInfo;
import com.netflix.appinfo.AmazonInfo.MetaDataKey;
import com.netflix.appinfo.MyDataCenterInstanceConfig;
import com.netflix.eureka.Jersey3EurekaBootStrap;

/**
 * Starts a server as it runs in Amazon's cloud: only there does Eureka know auto scaling groups. What it
 * would ask the cloud about itself is given here; eureka-server.properties has it ask nothing else.
 */
public final class CloudBootStrap extends Jersey3EurekaBootStrap {
    public CloudBootStrap () {
        super (EurekaReader.client (new MyDataCenterInstanceConfig ("eureka.",
                AmazonInfo.Builder.newBuilder ()
                        .addMetadata (MetaDataKey.instanceId, "i-0")
                        .addMetadata (MetaDataKey.accountId, "zpeer")
                        .build ())));
    }
}
