/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Has a which() of its own, which dlopen finds before that of inner.c, the library that it needs.
 */
int which(void);
int inner_which(void);
int outer_which(void);

int which(void)
{
    return 2;
}

int outer_which(void)
{
    return 10 * which() + inner_which();
}
