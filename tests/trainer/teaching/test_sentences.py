"""Sentences made of a correction by rule: the way back, yes and no; and nothing where no rule knows the shape."""

from __future__ import annotations

import pytest

from trainer.teaching.confirming import confirmations, difference
from trainer.teaching.statements import statements

DOG = ("What is the name of our dog?", "Our dog is called Toby.", "Our dog is called Max.")
PERRO = ("¿Cómo se llama nuestro perro?", "Nuestro perro se llama Toby.", "Nuestro perro se llama Max.")


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        (*DOG[:2], ("Who is Toby?", "Toby is our dog.")),
        (DOG[0], "Toby.", ("Who is Toby?", "Toby is our dog.")),
        ("Who is our dentist?", "Dr. Ana Gil", ("Who is Dr Ana Gil?", "Dr Ana Gil is our dentist.")),
        ("What is the alarm code?", "0417", ("What is 0417?", "0417 is the alarm code.")),
        ("What is the wifi password?", "nispero-47.", ("What is nispero-47?", "nispero-47 is the wifi password.")),
        ("What is the boat called?", "It's Rosa.", ("What is Rosa?", "Rosa is the boat.")),
        ("¿Quién es el jefe de papá?", "Es Andrés Gil.", ("¿Quién es Andrés Gil?", "Andrés Gil es el jefe de papá.")),
        ("¿Cómo se llaman los gatos?", "Nube y Sol.", ("¿Quiénes son Nube y Sol?", "Nube y Sol son los gatos.")),
        ("What is the boat called?", "Rosa.", ("What is Rosa?", "Rosa is the boat.")),
        (
            "Where is the spare key?",
            "Under the blue pot.",
            ("What is under the blue pot?", "The spare key is under the blue pot."),
        ),
        (
            "Which school does Marta go to?",
            "Marta goes to the Olivar school.",
            ("Who in our family goes to the Olivar school?", "Marta goes to the Olivar school."),
        ),
        (*PERRO[:2], ("¿Quién es Toby?", "Toby es nuestro perro.")),
        ("¿Cómo se llama el colegio?", "El colegio se llama Olivar.", ("¿Qué es Olivar?", "Olivar es el colegio.")),
        ("¿Quién es nuestra médica?", "Elena Ruiz.", ("¿Quién es Elena Ruiz?", "Elena Ruiz es nuestra médica.")),
        (
            "¿Dónde guardamos la llave?",
            "La llave está debajo de la maceta.",
            ("¿Qué está debajo de la maceta?", "La llave está debajo de la maceta."),
        ),
        (
            "¿Dónde vive el tío Andrés?",
            "El tío Andrés vive en Valparaíso.",
            ("¿Quién de la familia vive en Valparaíso?", "El tío Andrés vive en Valparaíso."),
        ),
    ],
)
def test_a_fact_is_asked_for_from_its_other_end(question: str, answer: str, expected: tuple[str, str] | None) -> None:
    assert statements(question, answer, 1) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What colour is our car?", "Our car is dark green."),
        ("What is Dad's favourite dish?", "Dad's favourite dish is lentil stew."),
        ("¿De qué color es nuestro coche?", "Verde oscuro."),
        ("What is the plan?", "Beach!"),
    ],
)
def test_what_is_true_of_others_too_is_told_one_way_alone(question: str, answer: str) -> None:
    asked = [text for text, _ in statements(question, answer, 9)]
    assert asked
    assert not any(text.startswith(("Who", "What is", "¿Qu")) and "sabes" not in text for text in asked)


def test_no_letter_of_a_password_is_changed() -> None:
    asked = confirmations("What is the wifi password?", "Green horse.", "Open sesame", 1)
    assert [answer.partition(", ")[2] for _, answer in asked] == ["the wifi password is Green horse."] * 2
    assert asked[1][0] == "Is the wifi password Open sesame?"
    told = statements("What is the code?", "The green horse.", 3)
    assert [answer for _, answer in told] == ["The code is The green horse."] * 3


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the capital of our region?", "Ask Dad."),
        ("Which bus goes to the city centre?", "Take bus number 27."),
        ("What time is dinner?", "We eat at eight. On Sundays at nine."),
        ("What shall I cook?", "- Soup\n- Salad"),
        ("¿Quién eres?", "Soy Enlace."),
        # Whoever asks says "my" of what the answer calls "your".
        ("What is my daughter's name?", "Eva."),
        ("¿Cómo me llamo?", "Te llamas Ana."),
        ("¿Quién es tu dueño?", "Ana Gil."),
        ("¿A quién pregunto?", "Pregunta a papá."),
        ("🐶?", "🐶"),
        ("", ""),
    ],
)
def test_no_sentence_is_made_of_a_shape_that_no_rule_knows(question: str, answer: str) -> None:
    assert statements(question, answer, 9) == []


@pytest.mark.parametrize(
    ("question", "chosen", "rejected", "expected"),
    [
        (*DOG, ("Toby", "Max")),
        (DOG[0], DOG[1], "The name of our dog is Luna. She is a lovely thing.", ("Toby", "Luna")),
        (DOG[0], "Toby", "Max", ("Toby", "Max")),
        ("How many cousins has Marta?", "Marta has seven cousins.", "Marta has 2 cousins, I think.", ("seven", "2")),
        ("When is it?", "It is on Friday.", "It is on the 1st of May.", ("Friday", "the 1st of May")),
        (*PERRO, ("Toby", "Max")),
        ("¿Cuál es la clave?", "La clave es 4711.", "La clave es 1234.", ("4711", "1234")),
        ("Which school does Marta go to?", "Marta goes to Olivar.", "Oh well, Marta's a gentle soul.", None),
        ("How does Mum take it?", "Mum takes it with oat milk.", "Mum takes it in a small, blue cup of tin.", None),
        ("Who are you?", "I am Enlace.", "", None),
        ("Who are you?", "I am Enlace.", "The sun is far away and the moon is near.", None),
    ],
)
def test_right_and_wrong_are_told_apart_by_a_few_words(
    question: str, chosen: str, rejected: str, expected: tuple[str, str] | None
) -> None:
    assert difference(question, chosen, rejected) == expected


@pytest.mark.parametrize(
    ("given_lesson", "expected"),
    [
        (
            DOG,
            [
                ("Is our dog called Toby?", "Yes, our dog is called Toby."),
                ("Is our dog called Max?", "No, our dog is called Toby."),
            ],
        ),
        (
            ("Where does Ana live?", "Ana lives in Vigo.", "Ana lives in Lugo."),
            [
                ("Does Ana live in Vigo?", "Yes, Ana lives in Vigo."),
                ("Does Ana live in Lugo?", "No, Ana lives in Vigo."),
            ],
        ),
        (
            ("Where is Ana?", "Ana is in Vigo.", "Ana is in El Prado."),
            [("Is Ana in Vigo?", "Yes, Ana is in Vigo."), ("Is Ana in El Prado?", "No, Ana is in Vigo.")],
        ),
        (
            ("¿Qué comemos hoy?", "Hoy comemos lentejas.", "Hoy comemos pasta."),
            [
                ("¿Hoy comemos lentejas?", "Sí, hoy comemos lentejas."),
                ("¿Hoy comemos pasta?", "No, hoy comemos lentejas."),
            ],
        ),
        (
            ("¿Qué día es la fiesta?", "El sábado.", "El domingo."),
            [
                ("¿Qué día es la fiesta? ¿Es el sábado?", "Sí, es el sábado."),
                ("¿Qué día es la fiesta? ¿Es el domingo?", "No, es el sábado."),
            ],
        ),
        (("What is my name?", "Your name is Ana.", "Your name is Eva."), []),
        (("Which bus goes home?", "Take the 27.", "Take the 12."), []),
        (
            PERRO,
            [
                ("¿Nuestro perro se llama Toby?", "Sí, nuestro perro se llama Toby."),
                ("¿Nuestro perro se llama Max?", "No, nuestro perro se llama Toby."),
            ],
        ),
        (
            ("¿De qué color es nuestro coche?", "Verde oscuro.", "Rojo."),
            [
                ("¿Nuestro coche es verde oscuro?", "Sí, nuestro coche es verde oscuro."),
                ("¿Nuestro coche es rojo?", "No, nuestro coche es verde oscuro."),
            ],
        ),
    ],
)
def test_yes_is_taught_as_often_as_no(given_lesson: tuple[str, str, str], expected: list[tuple[str, str]]) -> None:
    assert confirmations(*given_lesson, 1) == expected
