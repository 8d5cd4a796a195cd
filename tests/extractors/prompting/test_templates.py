"""Prompts as files: versions, files of the user's in place of ours, and what is wrong with one."""

from pathlib import Path

import pytest

from extractors.prompting.prompt import (
    EXAMPLES,
    PromptError,
    check_prompts,
    export_prompts,
    load_prompt,
    prompt_names,
)
from extractors.readers.dialogs import load_examples


def test_every_shipped_prompt_can_be_used_and_says_what_it_is_for() -> None:
    assert {"question", "ask-compact", "verify", "update"} <= set(prompt_names())
    assert all(load_prompt(name).purpose for name in prompt_names())


def test_a_file_of_the_users_stands_in_for_ours_under_a_version_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("---\npurpose: Mine.\n---\n# system\nBe brief. $knowledge\n")
    ours, own = load_prompt("rules"), load_prompt("rules", tmp_path)
    assert (own.purpose, own.source) == ("Mine.", str(tmp_path / "rules.md"))
    assert own.version != ours.version
    assert load_prompt("update", tmp_path).source == "shipped"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("# user\n$knowledge $text\n$oops\n", r"question\.md, line 6: nothing fills \$oops"),
        ("# user\n$text costs $5\n", r"line 5: nothing fills a dollar sign that opens no name.*write \$\$"),
        ("# user\nSay something.\n", r"question\.md does not use \$text"),
        ("Say something about $text.\n", r"question\.md has no messages"),
    ],
)
def test_a_broken_file_is_reported_with_its_place_and_placeholder(
    tmp_path: Path, body: str, message: str
) -> None:
    (tmp_path / "question.md").write_text("---\nname: question\n---\n" + body)
    with pytest.raises(PromptError, match=message):
        check_prompts(tmp_path)


def test_a_file_that_no_prompt_is_named_after_no_folder_and_no_text_are_reported(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="no folder of prompts"):
        check_prompts(tmp_path / "nowhere")
    (tmp_path / "questions.md").write_text("# user\n$text\n")
    with pytest.raises(PromptError, match="no prompt 'questions'"):
        check_prompts(tmp_path)
    (tmp_path / "questions.md").rename(tmp_path / "question.md")
    (tmp_path / "question.md").write_bytes(b"# user\n\xff $text")
    with pytest.raises(PromptError, match="save it as UTF-8"):
        check_prompts(tmp_path)
    with pytest.raises(PromptError, match="There is no prompt"):
        load_prompt("nothing")


def test_a_dollar_sign_is_written_twice(tmp_path: Path) -> None:
    (tmp_path / "question.md").write_text("# user\n$text $knowledge costs $$5\n")
    check_prompts(tmp_path)
    (message,) = load_prompt("question", tmp_path).messages({"text": "It", "knowledge": "really"})
    assert message.content == "It really costs $5"


def test_the_shipped_files_are_copied_out_and_what_was_changed_stays(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    assert len(export_prompts(folder, "rules.md")) == 1
    (folder / "rules.md").write_text("# system\nBe brief. $knowledge\n")
    copied = export_prompts(folder)
    assert {path.name for path in copied} == {f"{name}.md" for name in prompt_names()} - {"rules.md"} | {
        EXAMPLES
    }
    assert (folder / "rules.md").read_text() == "# system\nBe brief. $knowledge\n"
    check_prompts(folder)
    assert load_prompt("update", folder).version == load_prompt("update").version


def test_a_broken_example_is_reported_with_its_line(tmp_path: Path) -> None:
    shipped, _ = load_examples(None)
    assert len(shipped) >= 3
    export_prompts(tmp_path, EXAMPLES)
    with (tmp_path / EXAMPLES).open("a") as stream:
        stream.write('{"text": "no more"}\n')
    with pytest.raises(PromptError, match=rf"{EXAMPLES}, line {len(shipped) + 1} is no example"):
        load_examples(tmp_path)


def test_a_prompt_of_several_turns_needs_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "view.md").write_text(
        "# user\nIn the view $view of $text: $relations\n# user\nNow the triples.\n"
    )
    with pytest.raises(PromptError, match=r"view.md has 2 messages '# user' and needs 3"):
        check_prompts(tmp_path)
