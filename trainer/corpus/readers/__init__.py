"""From files to documents, one at a time: no file is ever in memory as a whole."""
