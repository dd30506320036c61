/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Literal file names of Python scripts: those that may be read, and those that are evidently
 * written. */
#include "core/inputs/scripts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char *found(const char *text)
{
    g_autoptr(GPtrArray) out = g_ptr_array_new_with_free_func(g_free);
    orch_script_data_read(text, out);
    g_ptr_array_add(out, NULL);
    return g_strjoinv(" | ", (char **)out->pdata);
}

static void test_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *files;
    } cases[] = {
        {"open('data.csv')", "data.csv"},
        {"pd.read_csv(\"d/x.csv\", sep=',')", "d/x.csv"},
        {"open('x.csv', 'r'); open('y.bin', mode='rb')", "x.csv | x.csv/r | y.bin"},
        {"p = Path('a') / 'b.csv'", "b.csv | a/b.csv"},
        {"os.path.join('a', 'b', 'c.csv')", "a/b | c.csv | a/b/c.csv"},
        {"sys.path.insert(0, 'lib')", "lib"},
        {"Path('a.d') + 'x'; y = 'b.csv'", "a.d | b.csv"},
        {"parser.add_argument('--data', default='set.csv')", "set.csv"},
        {"data = 'a.csv'\nnp.savetxt(FILE, data)", "a.csv"},
        {"load('a.csv', 'a')", "a.csv | a.csv/a"},
        {"DATA = './x.npy'", "./x.npy"},
        /* no files */
        {"'''a docs/x.csv'''\n# 'b.csv'\nprint('no dot', 'https://a.b/c', '%d.*', f'{x}.csv')", ""},
        {"d = {'lr': 0.1}; s = '.'; t = '..'; u = 'a/'", ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *files = found(cases[i].text);
        assert_string_equal(files, cases[i].files);
    }
}

static void test_written(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "open('x.csv', 'w')",
        "open('x.csv', mode=\"ab\")",
        "torch.save(m.state_dict(), 'model.pt')",
        "plt.savefig('a.png', dpi=3)",
        "df.to_csv('a.csv')",
        "np.savez_compressed(os.path.join('d.x', 'a.npz'), x=1)",
        "logging.basicConfig(filename='train.log')",
        "Path('a.txt').write_text('x')",
        "PATH = './net.pth'\ntorch.save(net.state_dict(), PATH)",
        "log_file = 'a.txt'\nwith open(log_file, 'a') as f: pass",
        "hist = 'a.txt'\nh = open(hist, 'a')",
        "h5py.File('a.h5', 'w')",
        "OUT = 'a.csv'",
        "save_path = 'a.csv'",
        "p.add_argument('--out', default='model.pt')",
        "json.dump(x, open('a.json', 'w'))",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *files = found(texts[i]);
        assert_string_equal(files, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
