#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <sys/socket.h>
#include "local.h"
#include "banned.h"

Test (local, the_address_is_one_this_host_can_bind)
{
    char address[ZPEER_LOCAL_MAX];
    struct sockaddr_in own = {.sin_family = AF_INET};
    const char *found = zpeer_local_address (address);
    if (!found)
        cr_skip ("this host has a loopback interface only");
    cr_expect_str_neq (found, "127.0.0.1");
    if (inet_pton (AF_INET, found, &own.sin_addr) != 1)
        cr_skip ("this host has no IPv4 address: %s", found);
    int fd = socket (AF_INET, SOCK_STREAM, 0);
    cr_expect_eq (bind (fd, (struct sockaddr *) &own, sizeof own), 0);
}
