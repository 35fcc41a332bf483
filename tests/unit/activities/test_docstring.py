"""Docstrings, taken apart."""

from turnwright.activities.docstring import Described, described


def test_a_function_without_a_docstring_says_nothing() -> None:
    def f() -> None: ...

    assert described(f) == Described()


def test_a_docstring_without_sections_is_a_description() -> None:
    def f() -> None:
        """Do it.

        At once: without delay.
        """

    assert described(f) == Described("Do it.\n\nAt once: without delay.")


def test_arguments_go_on_over_lines_and_end_with_their_section() -> None:
    def f() -> None:
        """Do it.

        Args:
            one: First,
                with: a colon.

                And a paragraph.
            two (int, optional): Second.
            *rest: The rest.

        Returns:
            three: not an argument.

        Parameters:
            four: Fourth.
        """

    assert described(f) == Described(
        "Do it.",
        {"one": "First, with: a colon. And a paragraph.", "two": "Second.", "rest": "The rest.", "four": "Fourth."},
    )


def test_text_that_belongs_to_no_argument_is_left_out() -> None:
    def f() -> None:
        """Do it.

        Args:
            no argument here
            one: First.
        """

    assert described(f).arguments == {"one": "First."}
