"""What a document says about whom: by rules first, by the model second, and checked by code either way."""
