# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every diagnostic has a test that provokes it.
#
# 1. Find the messages: calls of the helpers that tools/dev/lint.json names,
#    error types built, error strings assigned, each with all string literals
#    up to the end of the statement.
# 2. Find what tests expect: expected-error and FileCheck lines of lit tests,
#    string literals of unit tests.
# 3. A message is tested when its literals occur, in order, in one of those.
#    Literals of a `?:` are alternatives and may be absent. A unit test may
#    look for the longest literal alone.

import re

from .tree import Finding

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
WORDS = re.compile(r"[A-Za-z]{3}")
EXPECTATION = re.compile(r"expected-(?:error|warning|note|remark)|"
                         r"(?:^|//|#)\s*(?!RUN|DEFINE|REDEFINE)"
                         r"[A-Z][A-Z0-9_-]*:")


def _tokens(text):
    """C++ tokens as (kind, value, position): literal, comment, char, code."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|'
        r"'(?:[^'\\\n]|\\.)+'|[A-Za-z_]\w*|::|.", re.S)
    for match in pattern.finditer(text):
        value = match.group(0)
        if value.startswith(("//", "/*")) or value.isspace():
            continue
        yield value, match.start()


def _unescaped(literal):
    body = literal[1:-1]
    simple = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}
    return re.sub(r"\\(.)", lambda m: simple.get(m.group(1), m.group(1)), body)


def _statement(tokens, start):
    """Literals from `start` to the end of the statement, joined where
    adjacent; each with whether it is one branch of a conditional."""
    parts, depth, previous = [], 0, ""
    opening, closing = "([", ")]"
    if tokens[start][0] == "{":
        opening, closing = "([{", ")]}"
    for value, _ in tokens[start:]:
        if value in opening:
            depth += 1
        elif value in closing:
            depth -= 1
        if depth <= 0 and value in (";", "{", "}"):
            break
        if depth < 0:
            break
        if value.startswith('"'):
            if previous.startswith('"') and parts:
                parts[-1][0] += _unescaped(value)
            else:
                parts.append([_unescaped(value), previous in ("?", ":")])
        elif value == "?" and parts and previous.startswith('"'):
            parts.pop()  # compared with, not printed
        previous = value
    return [(text, choice) for text, choice in parts if WORDS.search(text)]


def messages_of(tree, name):
    """(line, [(literal, is alternative)]) of each message in a file."""
    calls = set(tree.config["message_calls"])
    types = set(tree.config["message_types"])
    assigned = set(tree.config["message_assignments"])
    tokens = list(_tokens(tree.text(name)))
    consumed = -1
    for index, (value, position) in enumerate(tokens):
        after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
        is_call = value in calls and after == "(" or \
            value in types and after in ("(", "{")
        is_assignment = value in assigned and after == "="
        if not (is_call or is_assignment) or index <= consumed:
            continue
        parts = _statement(tokens, index + 1)
        if parts:
            end = index + 1
            while end < len(tokens) and tokens[end][0] != ";":
                end += 1
            consumed = end
            line = tree.text(name).count("\n", 0, position) + 1
            yield line, parts


def _expectations(tree):
    """(file, text, whether a part is enough) of what tests expect."""
    for name in tree.select(("test",), (".mlir", ".test")):
        if name.startswith("test/corpus/"):
            continue
        for line in tree.lines(name):
            if EXPECTATION.search(line):
                yield name, line, False
    for name in tree.select(("test",), (".cpp",)):
        parts, previous = [], ""
        for value, _ in _tokens(tree.text(name)):
            if value.startswith('"'):
                if previous.startswith('"'):
                    parts[-1] += _unescaped(value)
                else:
                    parts.append(_unescaped(value))
            elif value.startswith('R"'):
                parts.append(value)
            previous = value
        for part in parts:
            if WORDS.search(part):
                yield name, part, True


def _flat(text):
    return re.sub(r"\s+", " ", text)


def _test_of(parts, expectations):
    texts = [t for t, choice in parts if not choice] or [parts[0][0]]
    # A place that formatv fills in may be anything.
    needed = [piece.strip() for text in texts
              for piece in re.split(r"\{\d+[^}]*\}", _flat(text))
              if WORDS.search(piece)] or [_flat(texts[0]).strip()]
    in_order = re.compile(".*".join(re.escape(t) for t in needed))
    longest = max(needed, key=len)
    for name, text, partial in expectations:
        if in_order.search(text):
            return name
        if partial and len(longest) >= 8 and text in longest and \
           len(text) >= len(longest) // 2:
            return name
        if partial and longest in text:
            return name
    return None


def _all_messages(tree):
    expectations = [(n, _flat(t), p) for n, t, p in _expectations(tree)]
    for name in tree.select(("include", "lib", "tools"), (".h", ".cpp")):
        for line, parts in messages_of(tree, name):
            shown = "...".join(_flat(t).strip() for t, _ in parts)
            yield name, line, shown, _test_of(parts, expectations)


def listing(tree):
    """One line a message: where it is, what it says, the test."""
    rows = ["%s:%d: %s\n    %s" % (name, line, shown, test or "NO TEST")
            for name, line, shown, test in _all_messages(tree)]
    tested = sum(not row.endswith("NO TEST") for row in rows)
    rows.append("%d messages, %d with a test" % (len(rows), tested))
    return "\n".join(rows)


def messages(tree):
    """Every diagnostic message has a test that expects it."""
    for name, line, shown, test in _all_messages(tree):
        if test is None:
            yield Finding(name, line, "no test expects this message: " + shown)


RULES = {"messages": messages}
