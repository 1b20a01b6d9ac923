"""What passes as a grammar is what llama.cpp follows; the rest is refused with the field and the reason."""

from __future__ import annotations

import pytest

from engine.errors import RequestWrong
from engine.grammar import Grammar
from engine.grammar_check import check_grammar
from engine.vocabulary import Vocabulary
from tests.engine.texts import LIMITS, accepts

LIST = 'root ::= item+\nitem ::= "- " [^\\r\\n]+ "\\n" # one line each\n'
SUM = 'root ::= term (("+" | "-") term)*\nterm ::= number | "(" root ")"\nnumber ::= [0-9]{1,3}\n'


@pytest.mark.parametrize(
    ("grammar", "inside", "outside"),
    [
        (LIST, ["- pan\n", "- ñandú\n- té\n"], ["", "pan\n", "- pan", "- \n"]),
        (SUM, ["1", "12+(3-4)"], ["1234", "1+", "(1", "+1"]),
        ('root ::= "sí" | "no" | ""', ["sí", "no", ""], ["s", "si", "nono"]),
        ('root ::= ("a" | b)* "."\nb ::= "b"?', [".", "aab."], ["a", "c."]),
        ("root ::= . .\r\n\r\n", ["ab", "👍ñ"], ["a", "abc"]),
        ('root ::= [\\x41-\\x43\\u00f1\\U0001F44D] "\\"\\\\"', ['A"\\', 'ñ"\\', '👍"\\'], ['D"\\', "A"]),
        ('root ::= "a"{2} "b"{0,2} "c"{1,}', ["aac", "aabbccc"], ["ac", "aabbbc", "aab"]),
    ],
)
def test_a_grammar_lets_through_what_it_says(
    vocabulary: Vocabulary, grammar: str, inside: list[str], outside: list[str]
) -> None:
    check_grammar(grammar, "grammar", LIMITS.most_beginnings)
    assert [text for text in inside if not accepts(vocabulary, grammar, text)] == []
    assert [text for text in outside if accepts(vocabulary, grammar, text)] == []


@pytest.mark.parametrize(
    ("grammar", "reason"),
    [
        ("", "no rule “root”"),
        ("hello", "::= is needed"),
        ('start ::= "a"', "no rule “root”"),
        ("root ::= item", "uses “item”"),
        ('root ::= "a', "in the middle"),
        ("root ::= [a", "in the middle"),
        ("root ::= []", "without characters"),
        ("root ::= [z-a]", "backwards"),
        ('root ::= "\\q"', "escape"),
        ('root ::= "\\u12"', "escape"),
        ('root ::= "a" )', "line 1, column 14"),
        ('root ::= ("a"', ") is needed"),
        ("root ::= *", "not understood"),
        ('root ::= "" *', "nothing is there"),
        ('root ::= "a"{2,1}', "before it begins"),
        ('root ::= "a"{0}', "repetition of nothing"),
        ('root ::= "a"{1,2001}', "2000"),
        ('root ::= ("a" "b"){50} {50}', "2000 rules"),
        ('root ::= "a"\nroot ::= "b"', "twice"),
        ('root ::= root "a" | "b"', "calls itself before anything"),
        ('root ::= a root "c" | "z"\na ::= b b\nb ::= "" | "q"', "calls itself before anything"),
        ('root ::= "a" root', "never ends"),
        ('root ::= ("" | "a")*', "may be empty"),
        ('root ::= "a"?*', "may be empty"),
        ('root ::= a+\na ::= "b" |', "may be empty"),
        ("root ::= <|im_end|>", "tokens"),
        ("root ::= !<[7]>", "tokens"),
        ('root ::= "a\0b"', "NUL"),
        ('root ::= "\ud83d"', "surrogate"),
        ('root ::= "\\ud83d"', "no text can hold"),
        ("root ::= " + "(" * 60 + '"a"' + ")" * 60, "deep"),
        ("root ::= " + '"a"?' * 6000, "in more than"),
        ("root ::= " + " | ".join(f'[a-z] "w{n}"' for n in range(2400)), "in more than"),
        ("\n".join(f"r{n} ::= r{n + 1} | r{n + 1}" for n in range(40)) + '\nr40 ::= "a"\nroot ::= r0', "in more than"),
        ('root ::= "' + "a" * 300_000 + '"', "longer"),
    ],
)
def test_a_grammar_that_cannot_be_honoured_is_refused_with_the_reason(grammar: str, reason: str) -> None:
    with pytest.raises(RequestWrong, match="grammar") as caught:
        check_grammar(grammar, "grammar", LIMITS.most_beginnings)
    assert reason in str(caught.value.facts["reason"])


def test_the_text_of_a_control_token_is_written_letter_by_letter(vocabulary: Vocabulary) -> None:
    grammar = Grammar(vocabulary, 'root ::= "<|im_start|>"', LIMITS)
    control = vocabulary.tokenize("<|im_start|>", special=True)
    assert len(control) == 1
    assert not grammar.allows(control[0])
    grammar.close()
    assert accepts(vocabulary, 'root ::= "<|im_start|>"', "<|im_start|>")
