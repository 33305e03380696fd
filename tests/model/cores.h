/*  cores.h - the cores under the model's eyes

    A program that the model drives: it reads commands, one a line, gives them
    to the real cores (view, lane, verdict, counter), and prints what these did.
    Each answer ends with a line that has only a dot. README.md lists commands
    and answers.
*/
#ifndef MODEL_CORES_H_INCLUDED
#define MODEL_CORES_H_INCLUDED

#include "counter.h"
#include "lane.h"
#include "view.h"

#define PEERS_MAX   4
#define LANES_MAX   (2 * PEERS_MAX)
#define HANDLES_MAX 1024
#define ITEMS_MAX   4096
#define TEXT_MAX    160

//  What was last printed of an instance in a lane
typedef struct {
    char text[TEXT_MAX];
} shown_t;

//  One lane. That of instances of peer n has number 2 n, that of ASGs the next.
typedef struct {
    unsigned number;
    zpeer_lane_t *lane;  //  Owned; NULL: the peer is gone
    bool behind;         //  Misses what changes, until it catches up
    bool noted[HANDLES_MAX];
    char stats[1024];
    shown_t *shown;  //  Owned; by handle
} row_t;

typedef struct {
    zpeer_view_t *view;  //  Owned
    zpeer_lane_options_t options;
    row_t rows[LANES_MAX];
    zpeer_counter_t counters[PEERS_MAX];
    unsigned count;                     //  Lanes
    char names[HANDLES_MAX][TEXT_MAX];  //  Ids of instances, by handle
} cores_t;

//  Prints what a lane says of an instance
void show_report (const row_t *row, const zpeer_lane_report_t *report);

//  Prints a batch, and its items
void show_batch (const row_t *row, const zpeer_lane_batch_t *batch);

//  Prints that there is no batch, when to look again, and whether it may send
void show_none (const row_t *row, uint64_t now, unsigned credit);

//  Prints what has changed in a lane since it was last shown: its figures, its
//  instances; and whether its own check holds
void show_lane (row_t *row);

//  Prints a state of the view; NULL: it knows none
void show_state (const zpeer_state_t *state);

//  Text of an info that holds a version, and back; 0: there is none
void version_write (unsigned version, char text[TEXT_MAX]);
unsigned version_read (const zpeer_state_t *state);

#endif
