"""Output of tools that no reader knows, with the facts that must survive: place, error, values."""

from __future__ import annotations

_PIP = "".join(
    f"Collecting package-{n}==1.{n}\n  Downloading package_{n}-1.{n}-py3-none-any.whl (1{n} kB)\n"
    f"     {'━' * 40} 1{n}.0/1{n}.0 kB 3.{n} MB/s eta 0:00:00\n"
    for n in range(90)
)
_LOG = "".join(
    f"2026-01-02 03:{n % 60:02}:11,{n % 1000:03} INFO worker-{n % 4} handled request {n}\n" for n in range(4_000)
)
_NPM = "".join(f"npm warn deprecated thing{n}@1.0.{n}: use something else\n" for n in range(120))
_PASSED = "".join(f"tests/test_m{n}.py::test_{n} PASSED [ {n % 100}%]\n" for n in range(800))

# name -> (standard output, standard error, exit code, facts)
UNKNOWN: dict[str, tuple[str, str, int, tuple[str, ...]]] = {
    "make and a compiler": (
        "make[1]: Entering directory '/repo/src'\ncc -c -o a.o a.c\n",
        "a.c: In function 'sum':\na.c:12:9: error: 'tot' undeclared (first use in this function)\n"
        "   12 |         tot += x[i];\n      |         ^~~\n"
        "make[1]: *** [Makefile:3: a.o] Error 1\nmake: *** [Makefile:9: all] Error 2\n",
        2,
        ("a.c:12", "error: 'tot' undeclared", "tot += x[i]", "exit code 2"),
    ),
    "a traceback": (
        "loading\n",
        'Traceback (most recent call last):\n  File "/repo/src/cli.py", line 40, in main\n    run(load(path))\n'
        '  File "/repo/src/load.py", line 12, in load\n    return parse(text)\n'
        '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\n    raise JSONDecodeError("x", s, 0)\n'
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n",
        1,
        ('src/load.py:12|src/load.py", line 12', "in load", "JSONDecodeError: Expecting value"),
    ),
    "a flood before the error": (
        _PIP,
        "ERROR: Could not find a version that satisfies the requirement shop==9.1 (from versions: 1.0, 2.0)\n"
        "ERROR: No matching distribution found for shop==9.1\n",
        1,
        ("shop==9.1", "from versions: 1.0, 2.0", "No matching distribution"),
    ),
    "an error in the middle of a log": (
        _LOG[: len(_LOG) // 2]
        + "2026-01-02 03:30:00,000 ERROR db.py:88 expected 3 rows, got 5\n"
        + _LOG[len(_LOG) // 2 :],
        "",
        1,
        ("db.py:88", "expected 3 rows, got 5"),
    ),
    "nothing said": ("", "", 1, ("exit code 1",)),
    "node, uncaught": (
        _NPM,
        "/repo/src/index.js:7\n    throw new Error('port is taken')\n    ^\n\nError: port is taken\n"
        "    at start (/repo/src/index.js:7:11)\n    at Object.<anonymous> (/repo/src/index.js:20:1)\n"
        "    at node:internal/main/run_main_module:23:47\n\nNode.js v20.1.0\n",
        1,
        ("src/index.js:7", "Error: port is taken"),
    ),
    "rspec": (
        "....F\n\nFailures:\n\n  1) Cart#total adds\n     Failure/Error: expect(cart.total).to eq(100)\n\n"
        "       expected: 100\n            got: 90\n\n       (compared using ==)\n"
        "     # ./spec/cart_spec.rb:9:in `block (3 levels) in <top (required)>'\n\n"
        "Finished in 0.00312 seconds (files took 0.09 seconds to load)\n5 examples, 1 failure\n",
        "",
        1,
        ("spec/cart_spec.rb:9", "expected: 100", "got: 90", "Cart#total adds"),
    ),
    "phpunit": (
        "F..  3 / 3 (100%)\n\nThere was 1 failure:\n\n1) CartTest::testTotal\n"
        "Failed asserting that 90 matches expected 100.\n\n/repo/tests/CartTest.php:15\n\nFAILURES!\n",
        "",
        1,
        ("CartTest::testTotal", "90 matches expected 100", "tests/CartTest.php:15"),
    ),
    "tap": (
        "TAP version 13\nok 1 - empty\nnot ok 2 - total\n  ---\n  operator: equal\n  expected: 100\n  actual:   90\n"
        "  at: Test.<anonymous> (/repo/test/cart.js:5:5)\n  ...\n1..2\n# tests 2\n# pass  1\n# fail  1\n",
        "",
        1,
        ("not ok 2 - total", "expected: 100", "actual:   90", "test/cart.js:5"),
    ),
    "pytest's own text": (
        _PASSED + "=================== FAILURES ===================\n________ test_total ________\n\n"
        "    def test_total():\n>       assert total([1, 2]) == 4\nE       assert 3 == 4\n"
        "E        +  where 3 = total([1, 2])\n\ntests/test_cart.py:5: AssertionError\n"
        "=========== short test summary info ===========\nFAILED tests/test_cart.py::test_total - assert 3 == 4\n"
        "======= 1 failed, 800 passed in 3.21s =======\n",
        "",
        1,
        ("tests/test_cart.py:5", "AssertionError", "assert 3 == 4", "test_total"),
    ),
    "a difference": (
        "",
        "--- expected.txt\n+++ actual.txt\n@@ -1,3 +1,3 @@\n total\n-100.00\n+90.00\n end\n",
        1,
        ("-100.00", "+90.00"),
    ),
    "address sanitizer": (
        "",
        "=================================================================\n"
        "==4242==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000034 at pc 0x55d2a1\n"
        "READ of size 4 at 0x602000000034 thread T0\n    #0 0x55d2a1c3 in sum /repo/src/sum.c:14:12\n"
        "    #1 0x7f0c1b24 in __libc_start_main (/lib/libc.so.6+0x29d8f)\n",
        1,
        ("heap-buffer-overflow", "src/sum.c:14", "READ of size 4"),
    ),
    "colours and unicode": (
        "\x1b[31m✗\x1b[0m größe stimmt nicht\n  \x1b[1mexpected\x1b[0m 10 €\n  \x1b[1mreceived\x1b[0m 9 €\n"
        "  at src/größe.js:4:1\n",
        "",
        1,
        ("größe stimmt nicht", "expected 10 €", "received 9 €"),
    ),
    "carriage returns": (
        "".join(f"\rbuilding {n}% [{'#' * (n // 10):<10}]" for n in range(101))
        + "\nfatal: unit test 'sum' failed: 3 != 4\n",
        "",
        1,
        ("unit test 'sum' failed: 3 != 4",),
    ),
    "one line without an end": ("x" * 500_000 + " error: wanted 5 and got 6", "", 1, ("wanted 5 and got 6",)),
    "a program that is missing": ("", "sh: 1: frobnicate: not found\n", 127, ("frobnicate: not found",)),
    "a JVM's stack": (
        "[INFO] Running shop.CartTest\n",
        'Exception in thread "main" java.lang.IllegalStateException: cart is closed\n'
        "\tat shop.Cart.add(Cart.java:33)\n\tat shop.Main.main(Main.java:8)\n"
        "Caused by: java.io.IOException: stream closed\n\t... 2 more\n",
        1,
        ("IllegalStateException: cart is closed", "Cart.java:33", "IOException: stream closed"),
    ),
    "a linker": (
        "",
        "/usr/bin/ld: src/main.o: in function `main':\nsrc/main.c:(.text+0x1d): undefined reference to `total'\n"
        "collect2: error: ld returned 1 exit status\n",
        1,
        ("undefined reference to `total'", "src/main.c"),
    ),
}
