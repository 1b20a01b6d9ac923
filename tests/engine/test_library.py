"""What native code complains of is told to whoever it is about."""

from __future__ import annotations

import threading
from pathlib import Path

from engine.library import forget_complaints, last_complaint, library


def test_what_llama_cpp_complains_of_in_another_thread_is_no_reason_for_a_failure_in_this_one(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")

    def load() -> None:
        lib = library()
        assert not lib.llama_model_load_from_file(str(broken).encode(), lib.llama_model_default_params())

    forget_complaints()
    other = threading.Thread(target=load)
    other.start()
    other.join()
    assert last_complaint("nothing") == "nothing"
    load()
    assert last_complaint("nothing") != "nothing"
