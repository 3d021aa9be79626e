# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of the tests of modules: each N-th, from the K-th on, in their order.

usage: in_shares.py K/N MODULE...
"""

import sys
import unittest


def cases(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from cases(one)
        else:
            yield one


def main():
    part, parts = map(int, sys.argv[1].split("/"))
    found = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:])
    chosen = unittest.TestSuite(list(cases(found))[part::parts])
    return not unittest.TextTestRunner().run(chosen).wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
