#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include "local.h"
#include "banned.h"

static const void *
s_bytes (const struct ifaddrs *interface)
{
    const struct sockaddr *address = interface->ifa_addr;
    if (address->sa_family == AF_INET)
        return &((const struct sockaddr_in *) (const void *) address)->sin_addr;
    return &((const struct sockaddr_in6 *) (const void *) address)->sin6_addr;
}

//  The first one that others can reach
static const char *
s_first (const struct ifaddrs *list, int family, char *address)
{
    for (const struct ifaddrs *at = list; at; at = at->ifa_next) {
        bool usable = at->ifa_addr && (at->ifa_flags & IFF_UP) &&
                      !(at->ifa_flags & IFF_LOOPBACK) &&
                      at->ifa_addr->sa_family == family;
        if (usable &&
            inet_ntop (family, s_bytes (at), address, ZPEER_LOCAL_MAX))
            return address;
    }
    return NULL;
}

const char *
zpeer_local_address (char address[ZPEER_LOCAL_MAX])
{
    struct ifaddrs *list;
    if (getifaddrs (&list))
        return NULL;
    const char *found = s_first (list, AF_INET, address);
    if (!found)
        found = s_first (list, AF_INET6, address);
    freeifaddrs (list);
    return found;
}
