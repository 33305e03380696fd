package zpeer.interop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.netflix.eureka.server.EnableEurekaServer;

/** A plain Spring Cloud Netflix Eureka Server, alone in its world. */
@SpringBootApplication
@EnableEurekaServer
public class SpringEureka {
    public static void main (String[] args) {
        SpringApplication.run (SpringEureka.class, args);
    }
}
