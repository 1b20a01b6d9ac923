"""Why something went wrong is told in the reader's language, also where those who say it speak only English."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from app.catalogue import Catalogue
from app.reasons import in_words
from configs.home import Home
from configs.settings import Settings
from tests.app.conftest import Run
from tests.project import LANGUAGES

# What pydantic calls the errors of each kind of value, and of each bound
# (https://docs.pydantic.dev/latest/errors/validation_errors/).
OF_KINDS = {
    "int": ("int_type", "int_parsing", "int_parsing_size", "int_from_float"),
    "float": ("float_type", "float_parsing", "finite_number"),
    "bool": ("bool_type", "bool_parsing"),
    "str": ("string_type",),
    "literal": ("literal_error",),
    "tuple": ("tuple_type",),
    "list": ("list_type",),
    "dict": ("dict_type",),
    "model": ("model_type",),
    "model-fields": ("missing", "extra_forbidden"),
}
OF_BOUNDS = {
    "ge": "greater_than_equal",
    "gt": "greater_than",
    "le": "less_than_equal",
    "lt": "less_than",
    "pattern": "string_pattern_mismatch",
}


def kinds(schema: Any) -> set[str]:
    """The codes of all errors that values by this schema of pydantic's can have."""
    if isinstance(schema, list | tuple):
        return {kind for each in schema for kind in kinds(each)}
    if not isinstance(schema, dict):
        return set()
    told = {kind for value in schema.values() for kind in kinds(value)}
    own = schema.get("type")
    told |= set(OF_KINDS.get(own, ())) if isinstance(own, str) else set()
    told |= {code for bound, code in OF_BOUNDS.items() if isinstance(schema.get(bound), str | int | float)}
    if "min_length" in schema:
        told.add("string_too_short" if own == "str" else "too_short")
    return told


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_that_pydantic_can_say_of_a_setting_has_words(language: str) -> None:
    catalogue, told = Catalogue(language), kinds(Settings.__pydantic_core_schema__)
    assert len(told) > 15
    assert [kind for kind in sorted(told) if not catalogue.has(f"reasons.setting.{kind}")] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("engine: {slots: many}", "«engine.slots» no vale: tiene que ser un número entero."),
        ("engine: {slots: -1}", "«engine.slots» no vale: tiene que ser 1 o más."),
        ("engine: {slotz: 1}", "no existe ese ajuste. ¿Querías decir «engine.slots»?"),
        ("engine: {slots: true}", "true y false no son números."),
        ("engine:", "tiene que ser una sección, con líneas `clave: valor`."),
        ("engine: {threads: 1000000}", f"este equipo tiene {os.cpu_count()} procesadores lógicos."),
        ("engine: {sign_of_life_s: 400}", "sign_of_life_s tiene que ser menor que silence_timeout_s"),
        ("engine: {server: {kind: vllm}}", "engine.server.url tiene que decir dónde está vllm."),
        ("engine: {form: {tried: {q8_0: {type: q8_0, tensors: {'[': f16}}}}}", "[ no es una expresión regular"),
        ("engine: {latency: 3}", "no existe ese ajuste."),
        ("assistant: {language: tlh}", "tiene que ser uno de estos: '', 'es', 'en'."),
        ("assistant: {system_prompt: ''}", "no puede estar vacío."),
        ("assistant: {time_zone: Mars/Olympus}", "Mars/Olympus no es una zona horaria"),
        ("engine: {slots: 4", "falta una coma, o el corchete o la llave que cierra (línea 2, columna 1)."),
        ("engine:\n\tslots: 4", "usa espacios y no tabuladores, y pon @, % y ` entre comillas (línea 2, columna 1)."),
        ("engine:\n  slots: 1\n threads: 2", "no tiene la misma sangría que las de arriba (línea 3, columna 2)."),
        ("engine: {slots: 1}\nengine: {}", "«engine» está dos veces en "),
        ("engine: {returned_block_kb: 32769}", "«engine.returned_block_kb» no vale: tiene que ser 32768 o menos."),
        (
            "training: {night: {begin_below_celsius: 90, stop_above_celsius: 80}}",
            "begin_below_celsius no puede estar por encima de stop_above_celsius.",
        ),
        ("training: {night: {quiet_from: 9}}", 'tiene que ser una hora, escrita como "23:00".'),
        ("training: {night: {quiet_to: '25:00'}}", 'tiene que ser una hora, escrita como "23:00".'),
        ("a: 2026-99-99", "hay una fecha que no existe (línea 1, columna 4)."),
        ("a: 1\nb: [2, !!int x]", "hay un número entero mal escrito (línea 2, columna 8)."),
        ("a: !!int ''", "hay un número entero mal escrito (línea 1, columna 4)."),
        ("a: 0x_", "hay un número entero mal escrito (línea 1, columna 4)."),
        ("a: !!float y", "hay un número mal escrito (línea 1, columna 4)."),
        ("a: !!bool y es", "hay un true o false mal escrito (línea 1, columna 4)."),
        ("a: " + "7" * 5000, "hay un número con demasiadas cifras (línea 1, columna 4)."),
        ("just a sentence", "tiene que llevar líneas `clave: valor`."),
        ("engine: {slots: \udcff}", "no es un texto en UTF-8 (línea 1, columna 17)."),
    ],
)
def test_a_wrong_setting_is_told_in_spanish(here: Run, home: Home, text: str, said: str) -> None:
    home.config_file.write_bytes(text.encode(errors="surrogateescape"))
    ran = here("members", "list", lang="es_ES.UTF-8")
    assert ran.code == 2
    assert said in ran.err


def test_what_the_system_says_is_told_by_its_number_whatever_it_is_called_here() -> None:
    spanish = Catalogue("es")
    assert in_words(os.strerror(errno.ENOSPC), spanish) == "no queda sitio en el disco"
    written = str(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x"))
    assert in_words(written, spanish) == "no queda sitio en el disco: 'x'"


@pytest.mark.parametrize("reason", ["", "nobody foresaw this", "{", "100 %", "[Errno 5] ", "truncated: 1 bytes"])
def test_what_has_no_words_is_told_as_it_is(reason: str) -> None:
    assert in_words(reason, Catalogue("es")) == reason


def test_a_file_that_is_not_there_is_named_once(here: Run) -> None:
    told = here("lessons", "import", "/nowhere", lang="es").err
    assert told.startswith("No puedo leer /nowhere (ese archivo o carpeta no existe).")


def test_a_broken_file_is_told_in_spanish_with_its_figures(here: Run, home: Home) -> None:
    path = home.models / "broken.gguf"
    path.write_bytes(b"GGUF" + (9).to_bytes(4, "little") + b"\0" * 35)
    assert "no conozco la versión 9 de GGUF." in here("models", "use", "broken", lang="es").err
    path.write_bytes(b"text" * 100)
    assert "no es un archivo GGUF." in here("models", "use", "broken", lang="es").err
