"""Shell command lines, read twice: strictly for rules that allow, broadly for rules that deny or ask.

Rule: strictly, a line is a plain chain of commands or it is not understood, and then nothing allows it. Broadly, every
word that may be a command is one: behind `sudo`, in brackets, in substitutions, in the text given to another shell. A
line that cannot be taken apart is then everything at once. Nobody who only reads a line knows all that it does; a
sandbox does.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias

LINE_CHARACTERS_MAX: Final = 8_000
COMMANDS_MAX: Final = 500
DEPTH_MAX: Final = 4

Words: TypeAlias = tuple[str, ...]

_CHAINS = frozenset({"&&", "||", ";", "|"})
_PUNCTUATION = frozenset("();<>|&")
_NOT_PLAIN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f$`]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=")
_FRAGMENTS = re.compile(r"\$\(|`|<\(|>\(|\(|\)|\$\{|\}")
_WAITING = re.compile(r"\d[\w.]*")
_RESERVED = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "coproc", "function"})
# They run the command that follows their own options.
_WRAPPERS = frozenset({
    "builtin", "command", "doas", "env", "exec", "ionice", "nice", "nohup", "setsid", "stdbuf", "sudo", "time",
    "timeout", "xargs",
})  # fmt: skip
# They run what any of their words says: a line of its own, or a command further on.
_SHELLS = frozenset({
    "busybox", "bwrap", "catchsegv", "chroot", "chrt", "docker", "eval", "fakeroot", "firejail", "flock",
    "gosu", "kubectl", "ltrace", "nsenter", "numactl", "parallel", "perf", "pkexec", "podman", "prlimit",
    "runuser", "script", "setarch", "sg", "ssh", "start-stop-daemon", "strace", "su", "su-exec", "systemd-run",
    "taskset", "trap", "unbuffer", "unshare", "valgrind", "watch",
})  # fmt: skip
# They also run what they are fed, if they are given no words but options.
_READERS = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"})
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
WRAPPERS = _WRAPPERS | _SHELLS | _READERS


class _NotUnderstood(Exception):
    """The line cannot be taken apart."""


@lru_cache(maxsize=256)
def plain_commands(line: str) -> tuple[Words, ...] | None:
    """The commands of a plain chain (`a && b; c | d`); None if the line holds anything else."""
    if len(line) > LINE_CHARACTERS_MAX or _NOT_PLAIN.search(line):
        return None
    commands: list[list[str]] = [[]]
    try:
        for token in _tokens(line):
            if not _PUNCTUATION.issuperset(token):
                commands[-1].append(token)
            elif token in _CHAINS:
                commands.append([])
            else:
                return None
    except ValueError:
        return None
    if any(not words or _ASSIGNMENT.match(words[0]) for words in commands):
        return None
    return tuple(tuple(words) for words in commands)


@lru_cache(maxsize=256)
def possible_commands(line: str) -> tuple[Words, ...] | None:
    """Everything in the line that may be a command with its words; None if it cannot be taken apart."""
    found: list[Words] = []
    try:
        for words in _read(line, DEPTH_MAX):
            found.append(words)
            if len(found) > COMMANDS_MAX:
                return None
    except (_NotUnderstood, ValueError):
        return None
    return tuple(dict.fromkeys(found))


def _tokens(line: str) -> Iterator[str]:
    """Words without their quotes, and runs of punctuation; ValueError if a quote is not closed."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    for token in lexer:
        # An empty word ('') is a word; as punctuation it would be the empty set.
        yield token or "''"


def _read(line: str, depth: int) -> Iterator[Words]:
    if depth == 0 or len(line) > LINE_CHARACTERS_MAX:
        raise _NotUnderstood
    text = re.sub(r"[\r\n]+", " ; ", line.replace("\\\n", "").replace("\x00", " "))
    for words in _split(text):
        yield from _behind(words, depth)
    if "`" in text or "(" in text or "${" in text:
        for fragment in _FRAGMENTS.split(text):
            yield from (inner for words in _split(_balanced(fragment)) for inner in _behind(words, depth))


def _balanced(fragment: str) -> str:
    """The fragment, without its quotes if one is not closed in it."""
    try:
        list(_tokens(fragment))
    except ValueError:
        return re.sub(r"[\"'\\]", " ", fragment)
    return fragment


def _split(text: str) -> Iterator[Words]:
    """The text's commands, each with its words; what is redirected is left out."""
    words: list[str] = []
    target = False
    for token in _tokens(text):
        if target and not _PUNCTUATION.issuperset(token):
            target = False
        elif token in ("{", "}", ";;") or (_PUNCTUATION.issuperset(token) and _separates(token)):
            yield tuple(words)
            words, target = [], token[-1] in "<>"
        elif _PUNCTUATION.issuperset(token):
            # `2>file command`: the number belongs to what is redirected.
            words = [] if len(words) == 1 and words[0].isdigit() else words
            target = True
        else:
            words.append(token)
    yield tuple(words)


def _separates(operator: str) -> bool:
    return operator[0] not in "<>" or "(" in operator or ")" in operator


def _behind(words: Words, depth: int) -> Iterator[Words]:
    """The command itself, without what only stands before it, and the commands it is given to run."""
    while words and (words[0] in _RESERVED or _ASSIGNMENT.match(words[0])):
        words = words[1:]
    if not words:
        return
    yield words
    program = program_of(words[0])
    if program in _WRAPPERS:
        for at in may_begin(words):
            yield from _behind_one(words[at:], depth)
    elif program in _READERS and all(word.startswith("-") for word in words[1:]):
        raise _NotUnderstood
    elif program in _SHELLS | _READERS:
        yield from (words[at:] for at in range(1, len(words)))
        for text in (*words[1:], " ".join(words[1:])):
            yield from _read(text, depth - 1) if re.search(r"[\s;&|()`]", text) else ()
    # Whatever the program: `\;` ends the first of these for the reader of words, and others may follow.
    for at, word in enumerate(words[:-1]):
        if word in _FIND_RUNS:
            yield from _behind_one(words[at + 1 :], depth)


def _behind_one(words: Words, depth: int) -> Iterator[Words]:
    if depth <= 1:
        raise _NotUnderstood
    yield from _behind(words, depth - 1)
    if re.search(r"\s", words[0]):
        yield from _read(words[0], depth - 1)


def may_begin(words: Words, first: int = 0) -> Iterator[int]:
    """Where the word that counts may stand after the first: behind options, their values, assignments and times."""
    for at in range(first + 1, len(words)):
        word, before = words[at], words[at - 1]
        yield at
        skipped = word.startswith("-") or _ASSIGNMENT.match(word) or _WAITING.fullmatch(word)
        if not skipped and not (at > first + 1 and before.startswith("-")):
            return


def may_follow(words: Words, places: Iterable[int]) -> Iterator[int]:
    """Where the word after any of these ascending places may stand, each once."""
    last = -1
    for place in places:
        # From a place among those behind an earlier one, none is reached that was not from there.
        if place >= last:
            for last in may_begin(words, place):
                yield last


def program_of(word: str) -> str:
    """The program's name, without the folder it lies in."""
    return word.rstrip("/").rpartition("/")[2]
