/*  pem.h - whether a file of certificates or keys can be used at all

    So that a wrong name is found when it is given, not by the first request.
    Whether what is in the file is good only a connection shows.

    Threads: any. Blocking: reads the file.
*/
#ifndef ZPEER_PEM_H_INCLUDED
#define ZPEER_PEM_H_INCLUDED

//  What is wrong with a file that is to be PEM: it cannot be read, is no regular
//  file, or nothing in it is PEM. NULL: nothing. Valid until the next call.
const char *zpeer_pem_wrong (const char *file);

#endif
