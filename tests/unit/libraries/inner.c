/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library that outer.c needs: whose which() does inner_which() call? See test_library.c. */
int which(void);
int inner_which(void);

int which(void)
{
    return 1;
}

int inner_which(void)
{
    return which();
}
