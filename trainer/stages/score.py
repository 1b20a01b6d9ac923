"""How good a training is beside others. Writes ``score/score.json``.

Its prompts for the KL and the lessons' other wordings are none of the gate's, so that what is chosen by them is judged
by others. The lessons' own questions, and all of what was known before, the gate asks too: there are no others.
"""

from __future__ import annotations

from collections.abc import Set

from trainer.everyday import read_prompts
from trainer.examples import Tokeniser
from trainer.pipeline.artifacts import BaseWeights, PreferencePairs, ServedWeights, TrainingData, TrialScore
from trainer.prompts import asked_alone, base_answers
from trainer.run_files import Inputs, write_json
from trainer.stages.context import StageContext
from trainer.stages.measuring import answered, drift
from trainer.stages.prepare import Question, questions_of, read_prepared
from trainer.teaching.rows import rows_of, unseen_wordings


def score(
    context: StageContext, trained: ServedWeights, data: TrainingData, pairs: PreferencePairs, base: BaseWeights
) -> TrialScore:
    """Raises what engine.native raises."""
    inputs, training = context.inputs, context.inputs.training
    most_tokens = training.evaluation.answer_tokens
    candidate = context.candidate(base, trained)
    lessons = {lesson.id: lesson for lesson in (*pairs.lessons, *pairs.known)}
    with context.served_model(base) as served:
        tokeniser = Tokeniser(served.template, served.vocabulary, inputs.system_prompt)
        measured = {question.lesson for question in read_prepared(data.path).questions}
        questions = compared_questions(inputs, measured, tokeniser)
        prompts = asked_alone(read_prompts("search")[: training.search.prompts])
        unrelated = base_answers(served, tokeniser, prompts, most_tokens, inputs.cache, inputs.ground)
        before = [served.log_probs(item.prompt, item.answer) for item in unrelated]
        answers = answered(served, candidate, questions, lessons, most_tokens)
        context.emit("progress", 0.7, {})
        served.set_adapters(candidate)
        nats = [served.nats(question.prompt, question.chosen) for question in questions]
        unrelated_kl = drift(served, before, unrelated)
    right = sum(right for _, right in answers)
    found = {"right": right / len(questions), "nats": sum(nats) / len(nats), "unrelated_kl": unrelated_kl}
    write_json(context.files.score, found)
    context.report.update(questions=len(questions))
    return TrialScore.at(context.files.score)


def compared_questions(inputs: Inputs, measured: Set[str], tokeniser: Tokeniser) -> list[Question]:
    """What is asked of the lessons ``measured`` (ids): each that was taught as it was asked and in wordings beyond the
    gate's, and what was known before, as it was asked. All but the wordings the gate asks too.
    """
    rows = rows_of(inputs.lessons, inputs.recipe)
    gates = inputs.training.evaluation.held_out_wordings
    count = gates + inputs.training.search.wordings
    unseen = unseen_wordings(inputs.lessons, (*rows.asked, *rows.more), count)
    ways = [(lesson, unseen[lesson.id][gates:]) for lesson in inputs.lessons if lesson.id in measured]
    ways += [(lesson, []) for lesson in inputs.known if lesson.id in measured]
    found = [question for lesson, wordings in ways for question in questions_of(tokeniser, lesson, wordings)]
    # A wording may be longer than the question, which is not.
    return [each for each in found if len(each.prompt) + len(each.chosen) <= inputs.training.longest_pair_tokens]
