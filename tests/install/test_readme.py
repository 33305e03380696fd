#!/usr/bin/env python3
"""README.md shows exactly the example that is compiled and run.

    test_readme.py README.md example.c
"""

import re
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        blocks = re.findall(r"```c\n(.*?)```", file.read(), re.DOTALL)
    with open(sys.argv[2], encoding="utf-8") as file:
        example = file.read()
    if example in blocks:
        print("the README shows the example")
        return 0
    print(f"{sys.argv[2]} is not among the {len(blocks)} C blocks of the README")
    return 1


if __name__ == "__main__":
    sys.exit(main())
