/*
 * soak/scene.h - one engine's life: its shape, the players (processors) on it, the threads that
 * post to it, and the books that are compared with the engine's own at the end.
 *
 * Who writes what. The scene belongs to its driver thread. Books of a player are plain and the
 * handler's own (P-1 is what makes that legal, and TSan is the judge); they are added to the
 * scene's in the destroy hook, or by the driver where there is none, at rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SOAK_SCENE_H
#define WEIR_SOAK_SCENE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/weir.h>

#include "gauge.h"
#include "mark.h"
#include "watch.h"

enum {
    SOAK_PLAYERS = 20, /* places for processors */
    SOAK_FOREIGN = 6,  /* places for foreign threads */
    SOAK_SEATS = SOAK_PLAYERS + SOAK_FOREIGN,
    SOAK_KEPT = 4,     /* events that a player keeps for a while */
    SOAK_STALE = 32,   /* old handles that are posted to, to be refused */
    SOAK_ENDLESS = 64, /* of 64 events, how many are passed on: all */
};
#define SOAK_DRAIN (3600 * WEIR_S) /* a drain that does not end is the watch's business */

/* What one sender or receiver, or all of them together, did: the program's own numbers. */
typedef struct soak_books {
    uint64_t accepted, dropped; /* posts that answered so; dropped is part of accepted */
    uint64_t handled, failed;   /* handlers that answered so */
    uint64_t wanted, rooms;     /* room events asked for, and got */
    uint64_t full, stopping, unknown, no_memory; /* posts refused */
} soak_books;

struct soak_scene;

/* A sender's numbers towards one place of the directory. */
typedef struct soak_stream {
    uint64_t to, sequence;
} soak_stream;

/* A processor's handler, or a foreign thread (then without a turn). */
typedef struct soak_sender {
    struct soak_scene *scene;
    weir_turn *turn;
    uint16_t seat;
    uint32_t identity;
    uint64_t random;
    soak_books books;
    soak_stream streams[SOAK_PLAYERS];
} soak_sender;

typedef enum soak_place_state {
    SOAK_FREE = 0, /* nobody: a player may be registered here */
    SOAK_LIVE,     /* registered, as far as the driver knows */
    SOAK_GONE,     /* its last hook has run: free as soon as the driver looks */
    SOAK_RETIRED   /* not used again in this scene */
} soak_place_state;

/* A place in the directory, and the player in it. */
typedef struct soak_player {
    _Atomic uint64_t handle; /* what senders post to; 0: none */
    _Atomic uint32_t state;  /* soak_place_state */
    _Atomic uint32_t inside; /* handlers in it: 0 or 1 (P-1) */
    weir_overflow overflow;  /* of every player in this place */
    bool hooked;             /* has init and destroy. From here on: of one life */
    bool init_fails;
    bool has_family; /* a parent, or perhaps children: its report covers more than itself */
    bool stopped;    /* the driver has begun a stop */
    soak_sender sender;
    soak_books done; /* a copy of its books, when its destroy hook has run */
    uint32_t kept_next;
    weir_event kept[SOAK_KEPT];
    soak_track tracks[SOAK_SEATS];
    uint64_t signal_seen; /* last value by weir_signal_post */
} soak_player;

/* A thread of the application that posts for a while and ends. */
typedef struct soak_foreign {
    soak_sender sender;
    uint64_t quota;     /* bursts */
    weir_signal signal; /* zero, or the one that only this thread posts to */
    uint64_t *signal_value;
    pthread_t thread;
} soak_foreign;

/* Drawn once per engine. */
typedef struct soak_shape {
    uint32_t go_on;   /* of 64 events, how many make their handler send */
    uint32_t slow_ns; /* what a slow event costs */
    uint32_t foreign; /* threads that post */
    uint32_t dispatchers;
    uint32_t rounds;
    int64_t round_ns;
    bool spins; /* some thread never sleeps: short life, no pauses */
    bool churn;
    bool timeouts; /* stops of processors may run out of time */
    bool failing_inits;
    bool counted; /* memory through the purse */
    bool external;
    bool lives_long;
} soak_shape;

typedef struct soak_scene {
    uint64_t seed, random;
    soak_beat *beat;
    soak_shape shape;
    weir_engine *engine;
    soak_purse purse;
    soak_player players[SOAK_PLAYERS];
    soak_foreign foreign[SOAK_FOREIGN];
    uint32_t identities; /* the driver's */
    uint32_t threads_added;
    uint64_t stale[SOAK_STALE];
    uint32_t stale_count;
    weir_signal signal;
    uint64_t signal_value;
    _Atomic bool round_over;  /* foreign threads: come home */
    _Atomic bool stop_inside; /* a handler: stop the engine */
    _Atomic bool stopped_inside;
    _Atomic bool turner_leave;
    weir_thread external;
    pthread_t turner;
    bool evicts;                      /* some place drops its oldest: posters do not hear of it */
    uint32_t inits_failed, timed_out; /* the driver's: with these, less is exact */
    pthread_mutex_t lock;
    soak_books books; /* under the lock */
} soak_scene;

static inline uint64_t soak_handle(soak_scene *scene, uint32_t place)
{
    return atomic_load_explicit(&scene->players[place].handle, memory_order_acquire);
}

/* Adds a part to the scene's books and empties it. */
void soak_books_add(soak_scene *scene, soak_books *part);

/* sender.c: one burst of one to a few dozen events, in a way and to places drawn at random. */
void soak_send(soak_sender *sender);
/* One event to a place; its status. */
weir_status soak_send_one(soak_sender *sender, uint32_t place);
/* One event, numbered, as the answer to `event`. */
void soak_send_reply(soak_sender *sender, const weir_event *event);
/* Enters a status of a post into the books; true: accepted. */
bool soak_note(soak_sender *sender, weir_status status);

/* batch.c: many in one call, to one place or to several. */
void soak_send_batch(soak_sender *sender, uint32_t most);

/* player.c: registers a player in a free place. False: refused, as the scene's state allows. */
bool soak_player_add(soak_scene *scene, uint32_t place, weir_error *error);

/* foreign.c */
void soak_foreign_begin(soak_scene *scene);
void soak_foreign_end(soak_scene *scene);
/* A few events by the driver itself; not while foreign threads are out. */
void soak_foreign_once(soak_scene *scene, uint32_t events);

/* churn.c: one random step of the driver on a running engine. */
void soak_churn(soak_scene *scene);
/* Places whose players are gone are free again. */
void soak_sweep(soak_scene *scene);
bool soak_adds_up(const weir_stop_report *report);

/* shape.c: draws a shape; makes the engine, its threads and dispatchers. */
void soak_shape_draw(soak_scene *scene, bool lives_long);
void soak_shape_build(soak_scene *scene, weir_error *error);
/* One thread more; serves at least dispatcher `row`. Also while the engine runs. */
void soak_thread_add(soak_scene *scene, uint32_t row, weir_error *error);
/* The thread of the application that turns the external one, from start until after the stop. */
void soak_turner_begin(soak_scene *scene);
void soak_turner_end(soak_scene *scene);
const char *soak_dispatcher(const soak_scene *scene, uint32_t choice);

/* ending.c: stops and destroys the engine, compares the books. */
void soak_end(soak_scene *scene, bool started);

/* scene.c: a whole life. */
void soak_scene_run(soak_beat *beat, uint64_t seed, bool lives_long);

#endif /* WEIR_SOAK_SCENE_H */
