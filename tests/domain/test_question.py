"""A question that a model leaves to a person."""

from domain.question import JUDGE, UNDECIDED, Question


def asked(text="Which?", *options, of="r 1"):
    return Question.of(text, options, of)


def test_nothing_is_no_question():
    assert asked("  \n") is None


def test_a_question_is_known_again_in_its_pass_and_not_in_another():
    assert asked().id == asked().id
    assert len({asked().id, asked("What?").id, asked(of="r 2").id, asked(of="s 1").id}) == 4


def test_options_are_few_short_and_each_of_them_once():
    made = asked("Which?", "a", "a", "", "b\x1b[31m", "x" * 500, *"cdefgh")

    assert made.options[:2] == ("a", "b [31m")
    assert len(made.options) == 6
    assert all(len(option) <= 120 for option in made.options)


def test_an_answer_is_the_choice_the_words_or_both_and_else_the_default():
    question = asked("Which?", "a", "b")

    assert question.answered("a", "") == "to your question 'Which?': a"
    assert question.answered(JUDGE, "c\nd") == "to your question 'Which?': c d"
    assert (
        question.answered("a", "but not in b.py") == "to your question 'Which?': a. but not in b.py"
    )
    assert UNDECIDED in question.answered(JUDGE, " ")
