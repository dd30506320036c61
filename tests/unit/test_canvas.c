/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canvas of charts on a terminal: what is cut, wide and combining characters, dots, colours. */
#include "core/render/text_canvas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Formats and releases the canvas. */
static void expect(struct orch_canvas *canvas, const char *text)
{
    g_autofree char *found = orch_canvas_format(canvas);
    assert_string_equal(found, text);
    orch_canvas_release(canvas);
}

static void test_texts(void **state)
{
    (void)state;
    struct orch_canvas canvas;
    orch_canvas_init(&canvas, 6, false, false);
    assert_int_equal(orch_canvas_text(&canvas, 0, 0, "a\u65e5b", ORCH_NO_COLOR), 4); /* wide */
    assert_int_equal(orch_canvas_text(&canvas, 0, 1, "e\u0301f", ORCH_NO_COLOR), 2); /* combining */
    orch_canvas_text(&canvas, 0, 2, "x\ty\n", ORCH_NO_COLOR);
    orch_canvas_text(&canvas, 0, 3, "longer than it", ORCH_NO_COLOR);
    /* half of a wide character is none */
    assert_int_equal(orch_canvas_text(&canvas, 5, 4, "\u65e5", ORCH_NO_COLOR), 5);
    orch_canvas_text(&canvas, 0, 5, "\xff!", ORCH_NO_COLOR); /* no UTF-8 */
    orch_canvas_put(&canvas, -1, 0, '#', ORCH_NO_COLOR);
    orch_canvas_put(&canvas, 6, 0, '#', ORCH_NO_COLOR);
    expect(&canvas, "a\u65e5b\nef\nx y\nlonger\n\n\ufffd!\n");
}

static void test_free_places(void **state)
{
    (void)state;
    struct orch_canvas canvas;
    orch_canvas_init(&canvas, 8, false, false);
    orch_canvas_put(&canvas, 2, 0, 'x', ORCH_NO_COLOR);
    orch_canvas_dot(&canvas, 11, 3, ORCH_NO_COLOR); /* column 5 */
    assert_true(orch_canvas_is_free(&canvas, 3, 0, 2));
    assert_false(orch_canvas_is_free(&canvas, 1, 0, 2)); /* a mark */
    assert_false(orch_canvas_is_free(&canvas, 3, 0, 3)); /* a dot */
    assert_false(orch_canvas_is_free(&canvas, 7, 0, 2)); /* beyond the right side */
    expect(&canvas, "  x  \u2880\n");
}

static void test_dots(void **state)
{
    (void)state;
    struct orch_canvas canvas;
    orch_canvas_init(&canvas, 4, false, false);
    assert_int_equal(orch_canvas_dots_across(&canvas) * orch_canvas_dots_down(&canvas), 8);
    for (int y = 0; y < 4; y++)
        orch_canvas_dot(&canvas, 0, y, ORCH_NO_COLOR);
    orch_canvas_line(&canvas, 2, 0, 5, 0, 0, ORCH_NO_COLOR);
    orch_canvas_dot(&canvas, -1, 0, ORCH_NO_COLOR);
    orch_canvas_dot(&canvas, 0, -1, ORCH_NO_COLOR);
    orch_canvas_dot(&canvas, 8, 0, ORCH_NO_COLOR);
    orch_canvas_text(&canvas, 3, 0, "|", ORCH_NO_COLOR);
    orch_canvas_dot(&canvas, 6, 0, ORCH_NO_COLOR); /* behind the text */
    expect(&canvas, "\u2847\u2809\u2809|\n");
    orch_canvas_init(&canvas, 5, true, false);
    assert_int_equal(orch_canvas_dots_across(&canvas) * orch_canvas_dots_down(&canvas), 1);
    orch_canvas_line(&canvas, 0, 0, 4, 0, 1, ORCH_NO_COLOR); /* every second one */
    orch_canvas_line(&canvas, 0, 1, 4, 3, 0, ORCH_NO_COLOR);
    expect(&canvas, ". . .\n.\n ..\n   ..\n");
}

/* A colour is set where it changes and reset at the end of the row; a shade counts as a mark. */
static void test_colors(void **state)
{
    (void)state;
    for (int color = 0; color < 2; color++) {
        struct orch_canvas canvas;
        orch_canvas_init(&canvas, 6, false, color);
        orch_canvas_text(&canvas, 0, 0, "ab", 3);
        orch_canvas_text(&canvas, 2, 0, "c", ORCH_NO_COLOR);
        orch_canvas_shade(&canvas, 3, 0, 17);
        orch_canvas_shade(&canvas, 99, 0, 17); /* outside: dropped */
        orch_canvas_text(&canvas, 0, 1, "d", ORCH_NO_COLOR);
        expect(&canvas, color ? "\033[0m\033[38;5;3mab\033[0mc\033[0m\033[48;5;17m \033[0m\nd\n"
                              : "abc \nd\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_free_places),
        cmocka_unit_test(test_dots),
        cmocka_unit_test(test_colors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
