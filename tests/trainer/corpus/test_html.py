"""Pages become paragraphs, and what is around the text of a page stays out."""

from __future__ import annotations

from trainer.corpus.readers.html import prose_of

PAGE = """<!DOCTYPE html><html><head><title>No</title><meta charset=utf-8><style>p{}</style></head><body>
<div class="navheader"><div>Anterior</div> Siguiente</div><header>Menú</header>
<h1>El t&iacute;tulo</h1><p>Un <b>p&aacute;rrafo</b> con
dos l&iacute;neas,<br>y otra &amp; m&aacute;s.<p>Sin cerrar<ul><li>uno<li>dos</ul>
<span hidden="true">oculto <span>del todo</span></span><input hidden>Suelto<img src=x/>
<pre>$ ls   -la</pre><script>if (a < b) { "</p>" }</script><footer>pie</footer></body></html>"""


def test_a_page_is_its_paragraphs_without_what_is_around_them() -> None:
    expected = ["El título", "Un párrafo con dos líneas,", "y otra & más.", "Sin cerrar", "uno", "dos", "Suelto"]
    assert prose_of(PAGE, left_out={"pre"}).split("\n\n") == expected
    assert "$ ls -la" in prose_of(PAGE)


def test_broken_pages_are_read_as_far_as_they_go() -> None:
    assert prose_of("<p>a<b>b</p></div></div><p>c <i>") == "ab\n\nc"
    assert prose_of("<div hidden>todo esto") == ""
    assert prose_of("") == ""
