"""Searching a member's messages: for words that people type, and for what a question is about.

Every look at the index has a bound, so that a search takes as long in a million messages as in ten thousand: of a word
that very many hold, the latest are read, and how many there are is told by how close together those are. SQLite's own
bm25() reads every entry of every word: 0.5 s for a question of eight words in a million messages.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from configs.sections.memory import SearchSettings
from memory.database import Database
from memory.text import Query, fold, marks_in, pieces, quoted, snippet
from memory.wording import about, said_of_anything

MARK = "~"  # before a term in the index, where no word begins with it
_LATEST = "SELECT rowid FROM messages_text WHERE messages_text MATCH ? ORDER BY rowid DESC LIMIT ?"


@dataclass(frozen=True)
class Match:
    """A found message; ``marks`` are (start, end) in ``snippet``, and a higher score is a better match."""

    message_id: str
    snippet: str
    score: float
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Wanted:
    """Something that a question is about. ``word``: as it is asked, folded. ``expression``: finds it in the index.

    ``share``: what of its weight counts; one word is said of anything, another names a thing. ``otherwise``: what of
    that where the index finds it and the word itself is not there.
    """

    word: str
    expression: str
    share: float
    otherwise: float = 1.0


@dataclass(frozen=True)
class _Read:
    """The latest messages that hold what is wanted. ``weight``: what it says, by how few they are."""

    wanted: _Wanted
    rows: frozenset[int]
    weight: float


class HistorySearch:
    """Looks in the table ``messages_text`` of one file."""

    def __init__(self, database: Database, settings: SearchSettings) -> None:
        self._database = database
        self._settings = settings

    def words(self, text: str, limit: int) -> list[Match]:
        """At most ``limit`` messages that hold all words of ``text``, as written first; if none do, some.

        Of equal ones the latest first.
        """
        query = self._query(text)
        if not query.terms or limit < 1:
            return []
        tiers = (query.all_exact(), query.all_folded(), query.all_beginning(self._settings.prefix_characters))
        scores: dict[int, float] = {}
        for number, expression in enumerate(tiers):
            if expression and len(scores) < limit:
                for row in self._database.rows(_LATEST, (expression, limit)):
                    scores.setdefault(row["rowid"], float(len(tiers) - number))
        if not scores and len(query.terms) > 1:
            return self.evidence(text, limit)
        return self._matches(query, dict(list(scores.items())[:limit]))

    def evidence(self, text: str, limit: int) -> list[Match]:
        """At most ``limit`` messages that hold most of what a question is about, in other forms of its words too.

        The score is the share of it, 0 to 1: rare words count for more, long messages for less (Robertson and Zaragoza,
        "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, without the frequency of words in a message).
        """
        query = self._query(text)
        if not query.terms or limit < 1:
            return []
        read = self._read(self._wanted(text[: self._settings.query_characters], query))
        sums: dict[int, float] = {}
        for each in read:
            for row in each.rows:
                sums[row] = sums.get(row, 0.0) + each.weight
        most = max(limit, self._settings.pool)
        pool = [row for _, row in heapq.nlargest(most, ((total, row) for row, total in sums.items()))]
        whole = sum(each.weight for each in read) or 1.0
        scores = {row: score / whole for row, score in self._weighed(read, pool).items()}
        best = sorted(scores, key=lambda row: (scores[row], row), reverse=True)[:limit]
        return self._matches(query, {row: scores[row] for row in best})

    def marks(self, text: str, content: str) -> tuple[tuple[int, int], ...]:
        """Where the words of the search ``text`` stand in ``content``."""
        query = self._query(text)
        return marks_in(content, cache(lambda word: query.marked(word, self._settings.prefix_characters)))

    def _query(self, text: str) -> Query:
        return Query(text, longest=self._settings.query_characters, most_terms=self._settings.query_words)

    def _wanted(self, text: str, query: Query) -> list[_Wanted]:
        """What a question is about: what its words have in common with others; if that is nothing, its words."""
        telling = about(text)[: self._settings.query_words]
        found: dict[str, _Wanted] = {}
        for word, term in telling:
            share = self._settings.weak_share if said_of_anything(word) else 1.0
            found.setdefault(term, _Wanted(word, f"folded : {quoted([MARK + term])}", share, self._settings.term_share))
        for written, folded in query.terms:
            if written != " ".join(folded) and not written.replace(" ", "").isalnum():
                # c++ and at&t: a word with signs inside.
                found.setdefault(written, _Wanted("", f"exact : {quoted([written])}", 1.0))
            elif not telling:
                found.setdefault(written, _Wanted(folded[0], f"folded : {quoted(folded)}", 1.0))
        return list(found.values())

    def _read(self, wanted: list[_Wanted]) -> list[_Read]:
        """The latest entries of each: of rare words all, and of the others what is left of as many as may be read."""
        settings = self._settings
        rows = {each: self._latest(each, settings.postings_each) for each in wanted}
        common = [each for each in wanted if len(rows[each]) == settings.postings_each]
        most = {each: (settings.postings - sum(map(len, rows.values()))) // len(common) for each in common}
        rows |= {each: self._latest(each, number) for each, number in most.items() if number > settings.postings_each}
        latest: int = self._database.value("SELECT coalesce(max(seq), 0) FROM messages")
        read = []
        for each, found in rows.items():
            if found:
                whole = len(found) < max(most.get(each, 0), settings.postings_each)
                number = len(found) if whole else max(len(found), len(found) * latest // (latest - found[-1] + 1))
                weight = math.log(1 + (max(latest, number) - number + 0.5) / (number + 0.5))
                read.append(_Read(each, frozenset(found), weight * each.share))
        return read

    def _latest(self, wanted: _Wanted, most: int) -> list[int]:
        return [row["rowid"] for row in self._database.rows(_LATEST, (wanted.expression, most))]

    def _weighed(self, read: Sequence[_Read], pool: Sequence[int]) -> dict[int, float]:
        """What each message of the ``pool`` holds: a word in another form for a part, and long messages for less."""
        settings = self._settings
        marks = ",".join("?" * len(pool))
        rows = self._database.rows(
            f"SELECT seq, substr(content, 1, ?) AS beginning, length(content) AS long FROM messages"  # noqa: S608
            f" WHERE seq IN ({marks})",
            (settings.pool_characters, *pool),
        )
        found = {}
        for row in rows:
            words = " " + " ".join(pieces(fold(row["beginning"])))
            total = 0.0
            for each in read:
                if each.wanted.word and f" {each.wanted.word}" in words:
                    total += each.weight
                elif row["seq"] in each.rows:
                    total += each.weight * each.wanted.otherwise
            share = settings.length_share
            found[row["seq"]] = total / (1 - share + share * max(1.0, row["long"] / settings.usual_characters) ** 0.5)
        return found

    def _matches(self, query: Query, scores: Mapping[int, float]) -> list[Match]:
        marks = ",".join("?" * len(scores))
        rows = self._database.rows(f"SELECT seq, id, content FROM messages WHERE seq IN ({marks})", tuple(scores))  # noqa: S608
        marked = cache(lambda word: query.marked(word, self._settings.prefix_characters))
        found = {}
        for row in rows:
            stretch, places = snippet(row["content"], marked, width=self._settings.snippet_characters)
            found[row["seq"]] = Match(row["id"], stretch, scores[row["seq"]], places)
        return [found[row] for row in scores if row in found]


def terms_of(text: str) -> str:
    """What the index holds of a message besides its words: each term once."""
    return " ".join(MARK + term for term in dict.fromkeys(term for _, term in about(text)))
