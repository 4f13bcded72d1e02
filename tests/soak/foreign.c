/*
 * soak/foreign.c - threads of the application that post for a while and end. Each is a new sender
 * in its seat: the context that the engine keeps for a thread is taken over again and again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "dice.h"
#include "pace.h"
#include "scene.h"

static void post_signals(soak_foreign *f)
{
    soak_sender *sender = &f->sender;
    for (uint32_t i = soak_pick(&sender->random, 8); i > 0; i--) {
        const weir_status status = weir_signal_post(f->signal, *f->signal_value + 1);
        *f->signal_value += soak_note(sender, status);
    }
}

static void *post_for_a_while(void *argument)
{
    soak_foreign *f = argument;
    soak_sender *sender = &f->sender;
    const soak_scene *scene = sender->scene;
    for (uint64_t i = 0; i < f->quota; i++) {
        if (atomic_load_explicit(&scene->round_over, memory_order_relaxed)) {
            break;
        }
        for (uint32_t k = 1 + soak_pick(&sender->random, 100); k > 0; k--) {
            soak_send(sender);
        }
        if (f->signal.id != 0) {
            post_signals(f);
        }
        if (!scene->shape.spins) {
            soak_pace(20000000);
        }
    }
    return NULL;
}

static void prepare(soak_scene *scene, uint32_t index)
{
    soak_foreign *f = &scene->foreign[index];
    *f = (soak_foreign){ .sender = { .scene = scene,
                                     .seat = (uint16_t)(SOAK_PLAYERS + index),
                                     .identity = ++scene->identities,
                                     .random = soak_dice(&scene->random) },
                         .quota = UINT64_C(1) << soak_pick(&scene->random, 16),
                         .signal_value = &scene->signal_value };
    if (index == 0) {
        f->signal = scene->signal;
    }
}

void soak_foreign_begin(soak_scene *scene)
{
    atomic_store(&scene->round_over, false);
    for (uint32_t i = 0; i < scene->shape.foreign; i++) {
        prepare(scene, i);
        if (pthread_create(&scene->foreign[i].thread, NULL, post_for_a_while, &scene->foreign[i]) !=
            0) {
            soak_violation(scene->seed, "no thread to be had");
            scene->shape.foreign = i;
        }
    }
}

void soak_foreign_end(soak_scene *scene)
{
    atomic_store(&scene->round_over, true);
    for (uint32_t i = 0; i < scene->shape.foreign; i++) {
        (void)pthread_join(scene->foreign[i].thread, NULL);
        soak_books_add(scene, &scene->foreign[i].sender.books);
    }
}

void soak_foreign_once(soak_scene *scene, uint32_t events)
{
    soak_foreign *f = &scene->foreign[0];
    prepare(scene, 0);
    for (uint32_t i = 0; i < events; i++) {
        (void)soak_send_one(&f->sender, soak_pick(&f->sender.random, SOAK_PLAYERS));
    }
    soak_books_add(scene, &f->sender.books);
}
