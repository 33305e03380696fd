#include <arpa/inet.h>
#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>
#include "port.h"
#include "banned.h"

int
speer_free_port (void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    int fd = socket (AF_INET, SOCK_STREAM, 0);
    int rc = bind (fd, (struct sockaddr *) &address, size);
    assert (rc == 0);
    getsockname (fd, (struct sockaddr *) &address, &size);
    close (fd);
    return ntohs (address.sin_port);
}
