"""Which language is spoken, and how a text is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.catalogue import Catalogue, choose_language


@pytest.mark.parametrize(
    ("wishes", "environ", "spoken"),
    [
        ({"option": "en", "member": "es"}, {"LANG": "es_ES.UTF-8"}, "en"),
        ({"member": "en", "settings": "es"}, {}, "en"),
        ({"settings": "en"}, {"LANG": "es_ES"}, "en"),
        ({}, {"LANG": "en_GB.UTF-8"}, "en"),
        ({}, {"LC_ALL": "es_MX.UTF-8", "LANG": "en_US"}, "es"),
        ({}, {"LANG": "C.UTF-8"}, "es"),
        ({}, {}, "es"),
        ({"option": "fr", "member": ""}, {"LANG": "de_DE"}, "es"),
    ],
)
def test_the_nearest_wish_that_is_spoken_here_wins_and_spanish_where_none_is(
    wishes: dict[str, str], environ: dict[str, str], spoken: str
) -> None:
    assert choose_language(**wishes, environ=environ) == spoken


def test_a_files_name_begins_its_keys_and_a_subject_may_fill_several_files(tmp_path: Path) -> None:
    folder = tmp_path / "es"
    folder.mkdir()
    (folder / "screen.toml").write_text('send = "Enviar"\n[help]\ntitle = "Ayuda"\n', encoding="utf-8")
    (folder / "errors_engine.toml").write_text('[errors.died]\nwhat = "Ha muerto"\n', encoding="utf-8")
    (folder / "errors_memory.toml").write_text('[errors.full]\nwhat = "Lleno de {what}"\n', encoding="utf-8")
    words = Catalogue("es", tmp_path)
    assert words.text("screen.send") == "Enviar"
    assert words.text("screen.help.title") == "Ayuda"
    assert words.text("errors.died.what") == "Ha muerto"
    assert words.text("errors.full.what", what="agua") == "Lleno de agua"
    assert not words.has("errors.other.what")


def test_one_and_many_are_told_apart() -> None:
    words = Catalogue("es")
    assert words.count("command.ask.lessons_used", 1) == "(1 lección usada)"
    assert words.count("command.ask.lessons_used", 3) == "(3 lecciones usadas)"
