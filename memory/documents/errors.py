"""What can be wrong with a document of the family, or with what somebody asks of documents and the graph."""

from __future__ import annotations

from configs.errors import EnlaceError


class DocumentProblem(EnlaceError):
    """Why a document could not be read; the others are. Kept with it, and told by ``enlace documents status``."""

    code = "document_problem"


class DocumentUnreadable(DocumentProblem):
    """The system does not give it out. facts: reason."""

    code = "document_unreadable"


class DocumentTooLarge(DocumentProblem):
    """facts: size, limit (megabytes)."""

    code = "document_too_large"


class DocumentEncrypted(DocumentProblem):
    """It opens with a password only. No facts."""

    code = "document_encrypted"


class DocumentDamaged(DocumentProblem):
    """It is no whole file of its format. facts: format, reason (as the library has it)."""

    code = "document_damaged"


class DocumentSwells(DocumentProblem):
    """Unpacked it would be far larger than any letter is: it was made to fill memory. facts: size, limit (MB)."""

    code = "document_swells"


class DocumentNotText(DocumentProblem):
    """Its name says text, and it holds none. facts: format."""

    code = "document_not_text"


class DocumentNoMapping(DocumentProblem):
    """YAML or JSON without "key: value" in it. facts: format."""

    code = "document_no_mapping"


class DocumentEmpty(DocumentProblem):
    """There is no text in it: an empty file, or the picture of a page. facts: format."""

    code = "document_empty"


class DocumentTooHard(DocumentProblem):
    """Reading it took too long or too much memory, and was ended. facts: seconds."""

    code = "document_too_hard"


class DocumentChanging(DocumentProblem):
    """It changed each time it was being read. facts: tries."""

    code = "document_changing"


class DocumentForgotten(DocumentProblem):
    """Somebody wanted what this file held to be forgotten; it holds something else by now. facts: path."""

    code = "document_forgotten"


class ReaderMissing(DocumentProblem):
    """What reads this format is not installed. facts: format, package."""

    code = "document_reader_missing"


class FormatUnknown(EnlaceError):
    """A file to add that is none of the formats that can be read. facts: path, formats."""

    code = "format_unknown"
    exit_code = 2


class PathUnknown(EnlaceError):
    """Nothing is there to add. facts: path."""

    code = "path_unknown"
    exit_code = 2


class PathInHome(EnlaceError):
    """The home itself, or a part of it, is no document of the family's. facts: path."""

    code = "path_in_home"
    exit_code = 2


class DocumentUnknown(EnlaceError):
    """facts: id."""

    code = "document_unknown"
    exit_code = 2


class NodeUnknown(EnlaceError):
    """Nobody and nothing in the graph is called so. facts: name."""

    code = "node_unknown"
    exit_code = 2


class TermUnknown(EnlaceError):
    """A kind or relation that the graph does not have. facts: term, known."""

    code = "term_unknown"
    exit_code = 2


class ProposalUnknown(EnlaceError):
    """No such pair waits to be told one from two. facts: id."""

    code = "proposal_unknown"
    exit_code = 2


class JoinUnknown(EnlaceError):
    """Nothing was made one under this id. facts: id."""

    code = "join_unknown"
    exit_code = 2


class NodesApart(EnlaceError):
    """Two of unlike kinds, or of two files, cannot be one. facts: first, second."""

    code = "nodes_apart"
    exit_code = 2
