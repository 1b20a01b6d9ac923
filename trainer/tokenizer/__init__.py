"""A tokenizer of one's own: trained on the family's text, the same in llama.cpp and elsewhere. Never torch."""
