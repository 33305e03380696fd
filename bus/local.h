/*  local.h - this host's own address

    Threads: any. Blocking: never; no resolver is asked.
*/
#ifndef ZPEER_LOCAL_H_INCLUDED
#define ZPEER_LOCAL_H_INCLUDED

//  Room for an address as text, NUL included
#define ZPEER_LOCAL_MAX 64

//  Writes the address of the first interface that is up and no loopback, IPv4
//  before IPv6, for DiscoveryIdentity-Id (EUREKA.md 1.4). Returns address, or
//  NULL if the host has none.
const char *zpeer_local_address (char address[ZPEER_LOCAL_MAX]);

#endif
