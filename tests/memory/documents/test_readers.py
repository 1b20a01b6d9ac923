"""Files that are not what they should be: each gets a sentence of its own, and none takes anything with it."""

from __future__ import annotations

import io
import zipfile

import pypdf
import pytest

from configs.settings import Settings
from memory.documents.errors import DocumentProblem
from memory.documents.formats import Format
from memory.documents.reader import Reader
from tests.memory.documents.corpus import docx, pdf


def problem(reader: Reader, form: Format, content: bytes) -> DocumentProblem:
    with pytest.raises(DocumentProblem) as caught:
        reader.read(form, content)
    return caught.value


def encrypted() -> bytes:
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(io.BytesIO(pdf(["secret"]))))
    writer.encrypt("password", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(docx("hola"))) as whole, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in whole.namelist():
            packed.writestr(name, whole.read(name))
        for number in range(3):
            packed.writestr(f"word/media/{number}.bin", bytes(100_000_000))
    return out.getvalue()


@pytest.mark.parametrize(
    ("form", "content", "code"),
    [
        ("pdf", b"%PDF-1.7\nnothing of the kind", "document_damaged"),
        ("pdf", pdf(["Ana Gil vive en Huesca."])[:200], "document_damaged"),
        ("pdf", pdf([""]), "document_empty"),
        ("docx", b"PK\x03\x04 no zip", "document_damaged"),
        ("docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "document_encrypted"),
        ("markdown", bytes(range(256)) * 20, "document_not_text"),
        ("text", b" \n\n", "document_empty"),
        ("yaml", b"just a sentence", "document_no_mapping"),
        ("yaml", b"- one\n- two\n", "document_no_mapping"),
        ("yaml", b"a: [1, 2", "document_damaged"),
        ("yaml", b"a: " + b"[" * 500 + b"]" * 500, "document_damaged"),
        ("json", b'"a text"', "document_no_mapping"),
        ("json", b'{"a": 1,}', "document_damaged"),
        ("json", b"[" * 5000 + b"]" * 5000, "document_damaged"),
        ("ics", b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\n", "document_damaged"),
        ("ics", b"hello", "document_no_mapping"),
        ("vcf", b"BEGIN:VCARD\nEND:VEVENT\n", "document_damaged"),
    ],
)
def test_a_broken_file_is_told_by_what_is_wrong_with_it(
    reader: Reader, form: Format, content: bytes, code: str
) -> None:
    assert problem(reader, form, content).code == code


def test_one_that_opens_with_a_password_only_is_told_so(reader: Reader) -> None:
    assert problem(reader, "pdf", encrypted()).code == "document_encrypted"


def test_one_that_unpacks_to_far_more_than_a_letter_is_not_unpacked(reader: Reader) -> None:
    found = problem(reader, "docx", bomb())
    assert (found.code, found.facts) == ("document_swells", {"size": 300, "limit": 200})


def test_yaml_that_stands_for_more_than_any_memory_holds_ends_by_itself(reader: Reader) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert problem(reader, "yaml", "\n".join(levels).encode()).code == "document_too_hard"


def test_a_process_that_dies_or_hangs_over_one_file_reads_the_next(settings: Settings) -> None:
    impatient = settings.memory.documents.model_copy(update={"read_seconds": 0.001})
    with Reader(impatient) as reader:
        assert problem(reader, "text", b"hola").code == "document_too_hard"
        assert reader._process is None
    with Reader(settings.memory.documents) as reader:
        reader.read("text", b"hola")
        process = reader._process
        assert process is not None
        process.kill()
        process.wait()
        assert reader.read("text", b"hola otra vez").text == "hola otra vez"


def test_lines_in_two_encodings_are_read_and_remarked_on(reader: Reader) -> None:
    mixed = "Ana vive en Logroño.\n".encode() + "Eva vive en Logroño.\n".encode("cp1252")
    reading = reader.read("text", mixed)
    assert reading.text == "Ana vive en Logroño.\nEva vive en Logroño.\n"
    assert [(remark.code, remark.facts) for remark in reading.remarks] == [("mixed_encodings", {"lines": 1})]
    assert reader.read("text", "año".encode("utf-16")).text == "año"


def test_a_calendar_without_a_time_zone_is_read_and_remarked_on(reader: Reader) -> None:
    event = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Cena\nDTSTART:20260514T210000\nEND:VEVENT\nEND:VCALENDAR\n"
    reading = reader.read("ics", event.encode())
    assert [(remark.code, remark.facts) for remark in reading.remarks] == [("no_time_zone", {"events": 1})]


def test_a_page_and_a_line_are_counted_as_a_person_counts_them(reader: Reader) -> None:
    reading = reader.read("pdf", pdf(["one\ntwo", "three\nfour"]))
    at = reading.text.index("four")
    assert (reading.page(at), reading.line(at)) == (2, 2)
