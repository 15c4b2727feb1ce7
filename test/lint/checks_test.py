#!/usr/bin/env python3
"""checks_test.py ROOT: plants one fault after the other in a small tree and fails when the script that should see it does not."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = None


def tree(files):
    root = pathlib.Path(tempfile.mkdtemp())
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


class Checks(unittest.TestCase):
    def run_check(self, script, files, *arguments):
        root = tree(files)
        try:
            return subprocess.run([sys.executable, SCRIPTS / script, root, *arguments], capture_output=True, text=True)
        finally:
            shutil.rmtree(root)

    def sees(self, script, files, text, *arguments):
        result = self.run_check(script, files, *arguments)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(text, result.stdout)

    def passes(self, script, files, *arguments):
        result = self.run_check(script, files, *arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_layers(self):
        def sees(path, text, said):
            self.sees("check_layers.py", {path: text}, said)

        sees("src/base/a.cpp", '#include "runtime/worker.hpp"\n', "may not include runtime/worker.hpp")
        sees("src/compress/a.cpp", '#include "transport/transport.hpp"\n', "may not include transport/")
        sees("src/transport/a.cpp", '#include "compress/spec.hpp"\n', "may not include compress/")
        sees("src/coordinator/a.cpp", '#include "collective/ring.hpp"\n', "may not include collective/ring.hpp")
        sees("src/runtime/a.cpp", '#include "mpi/mpi_transport.hpp"\n', "may not include mpi/")
        sees("src/api/a.cpp", '#include "collective/ring.hpp"\n', "may not include collective/")
        sees("mpi/a.cpp", '#include "compress/spec.hpp"\n', "may not include compress/")
        sees("src/runtime/a.cpp", "#include <mpi.h>\n", "may not include mpi.h")
        sees("src/collective/a.cpp", "#include <Eigen/Dense>\n", "may not include Eigen/Dense")
        sees("src/transport/a.cpp", "#include <nlohmann/json.hpp>\n", "may not include nlohmann/")
        sees("include/ringlet/a.hpp", '#include "base/log.hpp"\n', "may not include base/log.hpp")
        sees("include/ringlet/a.hpp", "#include <fmt/format.h>\n", "may not include fmt/format.h")
        sees("include/ringlet/tensor.hpp", "#include <mpi.h>\n", "may not include mpi.h")
        sees("docs/examples/a.cpp", '#include "base/log.hpp"\n', "may not include base/log.hpp")
        sees("bench/osu/a.cpp", '#include "runtime/worker.hpp"\n', "may not include runtime/")
        sees("src/runtime/a.cpp", 'auto v = std::getenv("X");\n', "reads the environment")
        sees("src/runtime/a.cpp", "#ifdef HAVE_MPI\n#endif\n", "chooses features")
        sees("src/runtime/a.cpp", "\n" * 501, "the limit is 500")
        self.passes("check_layers.py", {
            "include/ringlet/mpi.hpp": '#include <mpi.h>\n#include "ringlet/export.hpp"\n',
            "include/ringlet/a.hpp": "#include <vector>\n#if defined(__GNUC__)\n#endif\n",
            "src/base/settings.cpp": '#include <spdlog/logger.h>\nauto v = std::getenv("X");\n',
            "src/runtime/a.cpp": '#include <fmt/format.h>\n#include "coordinator/link.hpp"\n// getenv, #if HAVE_X\n',
            "src/compress/methods/powersgd.cpp": "#include <Eigen/Dense>\n",
            "mpi/a.cpp": '#include <mpi.h>\n#include "mpi/b.hpp"\n#include "transport/transport.hpp"\n#if OPEN_MPI\n#endif\n',
            "test/unit/a.cpp": '#include "runtime/worker.hpp"\n',
        })

    def test_functions(self):
        def body(lines):
            return "{\n" + "  f();\n" * (lines - 2) + "}\n"

        for head in ("void f() ", "int A::f(int x) const noexcept ", "A::A() : a_{1}, b_(2) ", "auto f() -> std::vector<int> ",
                     "template <class T>\n  requires std::integral<T>\nvoid f(T) ", "bool operator==(A, B) "):
            self.sees("check_functions.py", {"src/a.cpp": head + body(61)}, "61 lines")
            self.passes("check_functions.py", {"src/a.cpp": head + body(60)})
        inner = "namespace a {\nclass B : C {\n  int x{1};\n  void f() " + body(61) + "};\n}\n"
        self.sees("check_functions.py", {"include/ringlet/a.hpp": inner}, "61 lines")
        self.sees("check_functions.py", {"bench/a.cpp": "struct A g(B b) " + body(61)}, "61 lines")
        many = "namespace a {\n" + "void f() {\n  const char* s = \"}{\";  // {\n}\n" * 40 + "}\n"
        self.passes("check_functions.py", {"src/a.cpp": many})
        self.passes("check_functions.py", {"src/a.cpp": "const int table[] = " + body(99).replace("f();", "1,")})
        self.sees("check_functions.py", {"src/a.cpp": "void f() " + body(11)}, "the limit is 10", "10")

    def test_words(self):
        self.sees("check_words.py", {"src/a.cpp": "// TO" + "DO: more\n"}, "unfinished work")
        self.sees("check_words.py", {"a.md": "X" + "XX\n"}, "unfinished work")
        self.sees("check_words.py", {"a.md": "see /ho" + "me/me/ringlet\n"}, "a path of one machine")
        self.sees("check_words.py", {"a.txt": "<" * 7 + " HEAD\n"}, "a leftover of a merge")
        self.passes("check_words.py", {"a.md": "`build/tmp/x` and https://a.b/home/c, /usr/lib, ${ROOT}/work/a\n",
                                       "build/a.txt": "/ho" + "me/me\n"})

    def test_pages(self):
        index = {"docs/guide/index.md": "[a](a.md)\n"}
        self.sees("check_pages.py", index | {"docs/guide/a.md": "`src/no/file.cpp`\n"}, "names src/no/file.cpp")
        self.sees("check_pages.py", index | {"docs/guide/a.md": "[x](no.md)\n"}, "links to no.md")
        self.sees("check_pages.py", index | {"docs/guide/a.md": "", "docs/guide/b.md": ""}, "index.md does not list it")
        self.passes("check_pages.py", index | {"docs/guide/a.md": "`src/a.cpp` [i](index.md#x)\n", "src/a.cpp": ""})

    def test_format(self):
        style = {".clang-format": "BasedOnStyle: Google\nColumnLimit: 120\n"}
        self.sees("check_format.py", style | {"src/a.cpp": "//" + " wide" * 24 + "\n"}, "the limit is 120")
        if shutil.which("clang-format"):
            self.sees("check_format.py", style | {"src/a.cpp": "int  a ;\n"}, "clang-format -i")
            self.passes("check_format.py", style | {"src/a.cpp": "int a;\n"})
        else:
            self.assertEqual(self.run_check("check_format.py", style | {"src/a.cpp": "int a;\n"}).returncode, 77)


if __name__ == "__main__":
    SCRIPTS = pathlib.Path(sys.argv.pop(1)) / "scripts"
    unittest.main()
