"""What the command line says, in the words of the page."""

import pytest

from attnlab.web.words import in_form_words


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("--name 'a/b' is not possible", "name 'a/b' is not possible"),
        ("Choose another --name, or delete it.", "Choose another name, or delete it."),
        ("start another run with --name.", "start another run under another name."),
        ("give --dev, or --dev-share above 0.", "give dev, or dev_share above 0."),
        ("a limit (--max-len 20)", "a limit (max_len 20)"),
        ("with: --accept-changed-code.", "with: --accept-changed-code on the command line."),
        ("try `attnlab runs list --json`: --runs", "try `attnlab runs list --json`: runs"),
        ("there is no run '--name' in a--b", "there is no run '--name' in a--b"),
    ],
)
def test_flags_become_fields_but_not_in_commands_or_in_what_was_typed(
    said: str, shown: str
) -> None:
    assert in_form_words(said) == shown
