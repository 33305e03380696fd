/*  secrets.h - what must not be seen on a command line

    Everybody on the machine may read it, for as long as the program runs. What is
    in an environment only the same user may read.
*/
#ifndef SECRETS_H_INCLUDED
#define SECRETS_H_INCLUDED

//  Overwrites what may be a secret in an argument that was read: a URL's user and
//  password, and the value of an option whose name has "password" in it. Rather too
//  much than too little: of a list, all up to the last password.
void secrets_hide (char *argument);

#endif
