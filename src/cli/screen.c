/*
 * cli/screen.c - see screen.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/screen.h"

#include <stdlib.h>

#define UP_TO_COLUMN_ONE "\033[%uF"
#define CLEAR_REST_OF_LINE "\033[K"
#define CLEAR_BELOW "\033[J"
#define WRAP_OFF "\033[?7l"
#define WRAP_ON "\033[?7h"
#define HOME "\033[H"
#define SECOND_PAGE "\033[?1049h"
#define FIRST_PAGE "\033[?1049l"
#define CURSOR_OFF "\033[?25l"
#define CURSOR_ON "\033[?25h"

/* Moves up over the frame that is there, if any. */
static void move_up(FILE *out, const weir__screen *screen)
{
    if (screen->lines > 0) {
        fprintf(out, UP_TO_COLUMN_ONE, screen->lines);
    }
}

bool weir__frame_begin(weir__frame *frame, weir__screen *screen)
{
    *frame = (weir__frame){ .terminal = &screen->terminal, .screen = screen };
    frame->out = open_memstream(&frame->memory, &frame->size);
    if (frame->out == NULL) {
        return false;
    }
    fputs(WRAP_OFF, frame->out);
    if (screen->whole) {
        fputs(HOME, frame->out);
    } else {
        move_up(frame->out, screen);
    }
    return true;
}

void weir__frame_line(weir__frame *frame)
{
    fputs(CLEAR_REST_OF_LINE "\n", frame->out);
    frame->lines++;
}

void weir__frame_right(weir__frame *frame, weir__tone tone, int width, const char *text)
{
    fprintf(frame->out, "%s%*s%s", weir__terminal_begin(frame->terminal, tone), width, text,
            weir__terminal_end(frame->terminal, tone));
}

void weir__frame_head(weir__frame *frame, const char *text)
{
    fprintf(frame->out, "%s%s%s", weir__terminal_begin(frame->terminal, WEIR__TONE_FAINT), text,
            weir__terminal_end(frame->terminal, WEIR__TONE_FAINT));
    weir__frame_line(frame);
}

void weir__frame_show(weir__frame *frame)
{
    if (frame->screen->whole && frame->lines > 0) {
        (void)fseeko(frame->out, -1, SEEK_CUR); /* a newline on the last line would scroll */
    }
    fputs(CLEAR_BELOW WRAP_ON, frame->out);
    if (fclose(frame->out) == 0) {
        fwrite(frame->memory, 1, frame->size, stdout);
        fflush(stdout);
        frame->screen->lines = frame->lines;
    }
    free(frame->memory);
}

void weir__screen_open(weir__screen *screen)
{
    fputs(SECOND_PAGE CURSOR_OFF HOME CLEAR_BELOW, stdout);
    fflush(stdout);
    screen->whole = true;
    screen->lines = 0;
}

void weir__screen_close(weir__screen *screen)
{
    fputs(CURSOR_ON FIRST_PAGE, stdout);
    fflush(stdout);
    screen->whole = false;
    screen->lines = 0;
}

void weir__screen_erase(weir__screen *screen)
{
    move_up(stdout, screen);
    if (screen->lines > 0) {
        fputs(CLEAR_BELOW, stdout);
        fflush(stdout);
    }
    screen->lines = 0;
}
