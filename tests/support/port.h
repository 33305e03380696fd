/*  port.h - a port for somebody who cannot be told to choose one
*/
#ifndef SPEER_PORT_H_INCLUDED
#define SPEER_PORT_H_INCLUDED

//  A port of 127.0.0.1 that nobody had a moment ago
int speer_free_port (void);

#endif
