"""What is remembered: facts, conversations, the people and places that are named, documents, and how it all belongs."""
