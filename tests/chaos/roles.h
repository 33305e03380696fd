/*  roles.h - what this program is when it is not the one that plays

    A dispatcher in a process of its own, and an engine that lets such
    dispatchers in, which zpeerd has no option for. Started by service.c:

        chaos engine EVENTS OUTCOMES KEY=VALUE… -- HEALTH {URL DOOR}…
        chaos dispatcher KEY=VALUE… -- ID URL DOOR HEALTH
*/
#ifndef CHAOS_ROLES_H_INCLUDED
#define CHAOS_ROLES_H_INCLUDED

//  The exit status, or -1 if argv is of neither
int roles_play (int argc, char **argv);

#endif
