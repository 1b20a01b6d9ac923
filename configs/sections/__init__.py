"""One pydantic model a room: what may be set, with a sentence under each field."""
