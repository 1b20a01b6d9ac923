"""Documents are cleaned, nobody's own data stays in them, and their language is told."""

from __future__ import annotations

import unicodedata

import pytest

from configs.pretraining.corpus import PersonalKind
from trainer.corpus.cleaning import cleaned, letter_share, repeated_share
from trainer.corpus.language import language_of, probability
from trainer.corpus.personal import scrubbed
from trainer.corpus.repeated import RepeatedLines

ALL: tuple[PersonalKind, ...] = ("email", "phone", "identity", "iban", "card", "address")


def test_a_text_has_one_form_for_every_letter_and_no_codes() -> None:
    raw = "Nu\u0301n\u0303ez\u200b\u00ad dijo:\u00a0\u2003hola\x1b[31m\x00\u202e\ud83d\r\n\r\n\r\n\r\n\tadiós \u2028fin"
    assert cleaned(raw) == "Núñez dijo: hola[31m\n\nadiós\nfin"
    assert unicodedata.is_normalized("NFC", cleaned(raw))


def test_joined_emoji_and_other_scripts_stay_as_they_are() -> None:
    # What joins the family is no mark without use.
    for said in ("👨‍👩‍👧‍👦 🏳️‍🌈", "می‌خواهم", "हिन्दी", "日本語"):
        assert cleaned(said) == unicodedata.normalize("NFC", said)


def test_text_that_was_read_in_the_wrong_encoding_is_mended_line_by_line() -> None:
    assert cleaned("EspaÃ±a y aÃ±o\nÃ‰l ya está") == "España y año\nÃ‰l ya está"
    assert cleaned("SÃO PAULO, ÂMBAR") == "SÃO PAULO, ÂMBAR"


def test_what_surrounds_the_text_of_a_page_is_left_out() -> None:
    said = "El huevo hierve diez minutos."
    page = f"Inicio\n{said}\nCompartir en Facebook\n* * *\nA | B | C | D\n-----\n© Todos los derechos reservados."
    assert cleaned(page) == said
    # A sentence that only speaks of such things stays.
    long = "Quien quiera saber qué dice la ley de la política de privacidad de una página tiene que leerla entera, y"
    long += " casi nadie lo hace."
    assert cleaned(long) == long


def test_letters_and_repetitions_are_measured() -> None:
    assert letter_share("ab 12") == 0.6
    assert repeated_share("a\n\na\nb\na") == 0.5
    assert (letter_share(""), repeated_share("")) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Escribe a ana.p+x@casa.example.es, o no.", "Escribe a [correo], o no."),
        ("Mi DNI es 12345678Z y el suyo 12.345.678-Z.", "Mi DNI es [DNI] y el suyo [DNI]."),
        ("NIE X1234567L, x-1234567-l", "NIE [DNI], [DNI]"),
        ("La pieza 12345678A, el expediente 87654321B", "La pieza 12345678A, el expediente 87654321B"),
        ("ES91 2100 0418 4502 0005 1332 o ES9121000418450200051332", "[IBAN] o [IBAN]"),
        ("ES92 2100 0418 4502 0005 1332", "ES92 2100 0418 4502 0005 1332"),
        ("GB29 NWBK 6016 1331 9268 19", "[IBAN]"),
        ("Visa 4111 1111 1111 1111, caduca 12/27", "Visa [tarjeta], caduca 12/27"),
        ("4111 1111 1111 1112 y 0000000000000000", "4111 1111 1111 1112 y 0000000000000000"),
        ("ISBN 978-84-376-0494-7", "ISBN 978-84-376-0494-7"),
        ("Llama al 600 123 456 o al +34 91 123 45 67.", "Llama al [teléfono] o al [teléfono]."),
        ("612345678, 91 123 45 67, (955) 12 34 56", "[teléfono], [teléfono], (955) 12 34 56"),
        ("Son 612345678901 euros, 1.600.123.456 y 2026-600", "Son 612345678901 euros, 1.600.123.456 y 2026-600"),
        ("Vive en la calle Mayor, 12, 3º B, 28013 Madrid", "Vive en la [dirección] Madrid"),
        ("C/ de la Luna nº 4 y avda. San José 21", "[dirección] y [dirección]"),
        ("La calle Mayor es larga y la plaza tiene 12 árboles", "La calle Mayor es larga y la plaza tiene 12 árboles"),
    ],
)
def test_what_is_somebodys_own_is_written_over_and_other_numbers_stay(said: str, kept: str) -> None:
    assert scrubbed(said, ALL)[0] == kept


def test_only_the_asked_kinds_are_written_over_and_each_is_counted() -> None:
    text, found = scrubbed("a@b.es, c@d.es, 600 123 456", ALL[:1])
    assert (text, found) == ("[correo], [correo], 600 123 456", {"email": 2})


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "es",
            "Cuando llega el otoño, el pueblo se queda casi vacío y las calles vuelven a ser de los que viven allí.",
        ),
        ("ca", "Quan arriba la tardor, el poble es queda gairebé buit i els carrers tornen a ser dels que hi viuen."),
        ("gl", "Cando chega o outono, a vila queda case baleira e as rúas volven ser dos que viven alí todo o ano."),
        ("pt", "Quando chega o outono, a vila fica quase vazia e as ruas voltam a ser de quem ali vive o ano todo."),
        ("en", "When autumn comes, the village is almost empty and the streets belong to those who live there again."),
        ("fr", "Quand arrive l'automne, le village est presque vide et les rues sont de nouveau à ceux qui y vivent."),
        ("it", "Quando arriva l'autunno, il paese resta quasi vuoto e le strade tornano a essere di chi ci vive."),
        ("de", "Wenn der Herbst kommt, ist das Dorf fast leer, und die Straßen gehören wieder denen, die dort wohnen."),
        ("eu", "Udazkena iristen denean, herria ia hutsik geratzen da, eta kaleak berriro han bizi direnenak dira."),
    ],
)
def test_a_sentence_is_told_by_its_language(language: str, said: str) -> None:
    assert language_of(said) == language
    assert probability(said, language) > 0.5
    assert probability(said, "es") < 0.5 or language == "es"


def test_what_is_in_no_known_language_is_in_none() -> None:
    for said in ("私は学生です。日本語のテキストです。", "qwx zrt kjh gfd plmk wqzx hjkl vbnm qwrt", "", "12 34 !?"):
        assert language_of(said) == "?"
        assert probability(said, "es") == 0
    assert probability("Ma sanggwa", "qu") == 1


def test_a_line_that_many_documents_have_is_left_out_of_later_ones() -> None:
    lines = RepeatedLines(3)
    texts = [f"Manual de la casa\nPágina {number}.\n\nManual de la casa" for number in range(5)]
    assert [lines.without(text) for text in texts] == [*texts[:3], "Página 3.", "Página 4."]
    assert RepeatedLines(0).without(texts[0]) == texts[0]
