"""What a question asks, whoever it is about."""

from attnlab.data.knowledge_files import Question
from attnlab.data.names import Names
from attnlab.data.question_forms import QuestionForm, by_form

NAMES = Names(["Ann Lee", "Bo Ek"])


def test_questions_of_one_form_come_together_and_strangers_are_left_out() -> None:
    texts = ("Where was Ann Lee born?", "Where was Bo Ek born?", "Who is Bo Ek?", "Who is Cy?")
    questions = [Question(text, "Hull", "here") for text in texts]
    found = by_form(questions, NAMES)
    assert {form: [name for name, _ in asked] for form, asked in found.items()} == {
        QuestionForm("Where was ", " born?"): ["Ann Lee", "Bo Ek"],
        QuestionForm("Who is ", "?"): ["Bo Ek"],
    }


def test_a_form_knows_its_words_and_asks_about_anybody() -> None:
    form = QuestionForm("Where was ", " born?")
    assert form.cues == ("where", "was", "born")
    assert form.about("Cy Day") == "Where was Cy Day born?"
