package zpeer.interop;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.web.SecurityFilterChain;

/** Every call needs the one user's password; no token against forgery is asked for, as Eureka's clients have none. */
@Configuration
@Profile ("secure")
public class Security {
    @Bean
    SecurityFilterChain chain (HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests (all -> all.anyRequest ().authenticated ())
                .httpBasic (Customizer.withDefaults ())
                .csrf (AbstractHttpConfigurer::disable)
                .build ();
    }
}
