"""A turn of small talk before the question: a lesson has to hold in the middle of a conversation too."""

from __future__ import annotations

import zlib

from engine.messages import Message
from trainer.wordings.language import Language

ENGLISH = (
    ("Good morning!", "Good morning! How can I help?"),
    ("Thank you for yesterday.", "You are welcome. What can I do for you today?"),
    ("It is raining again.", "Then it is a good day to stay in. What do you need?"),
    ("I just came home.", "Welcome home! What would you like to know?"),
    ("Are you there?", "Yes, I am here. Ask me anything."),
    ("I have two questions for you.", "Of course. What is the first one?"),
)
SPANISH = (
    ("¡Buenos días!", "¡Buenos días! ¿En qué te ayudo?"),
    ("Gracias por lo de ayer.", "De nada. ¿Qué necesitas hoy?"),
    ("Está lloviendo otra vez.", "Buen día para quedarse en casa. ¿Qué necesitas?"),
    ("Acabo de llegar a casa.", "¡Bienvenido! ¿Qué quieres saber?"),
    ("¿Estás ahí?", "Sí, aquí estoy. Pregúntame lo que quieras."),
    ("Tengo dos preguntas.", "Claro. ¿Cuál es la primera?"),
)


def small_talk(language: Language, question: str, number: int) -> tuple[Message, Message]:
    """The ``number``-th turn of small talk before a question, another first one for another question."""
    turns = SPANISH if language == "es" else ENGLISH
    said, replied = turns[(zlib.crc32(question.encode()) + number) % len(turns)]
    return Message("user", said), Message("assistant", replied)
