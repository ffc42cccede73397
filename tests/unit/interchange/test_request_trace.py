"""Traces of any make, and rows that are not ordinary."""

from pathlib import Path

import pytest

from volvelle.errors import DescriptionError
from volvelle.interchange.request_trace import RecordedTrace, read_trace

HEAD = "arrival_s,input_tokens,output_tokens\n"


def read(tmp_path: Path, text: str) -> RecordedTrace:
    file = tmp_path / "trace"
    file.write_text(text, "utf-8")
    return read_trace(file)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "2.5,374,44\n4.0,396,109\n",
        "\ufeff" + HEAD + "\n2.5,374,44\n\n4.0,396,109\n",
        "2.5,374,44\n4.0,396,109\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.5000000,374,44\n2023-11-16 18:15:48.0,396,109\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2024-05-10 00:00:00.5+00:00,374,44\n2024-05-10 00:00:02+00:00,396,109\n",
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,ChatGPT,374,44,418,Conversation log\n6.5,GPT-4,396,109,505,API log\n",
        '{"timestamp": 0, "input_length": 374, "output_length": 44, "hash_ids": [1]}\n'
        '{"timestamp": 1500, "input_length": 396, "output_length": 109, "hash_ids": [1]}\n',
    ],
)
def test_a_trace_of_any_make_gives_the_same_requests(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.requests.arrival.tolist() == [0.0, 1.5]
    assert found.requests.input_tokens.tolist() == [374, 396]
    assert found.requests.output_tokens.tolist() == [44, 109]
    assert found.left_out == 0


def test_mooncake_s_blocks_are_kept(tmp_path: Path) -> None:
    found = read(tmp_path, '{"timestamp": 0, "input_length": 1400, "output_length": 4, "hash_ids": [4, 9, 11]}\n')
    assert found.requests.hash_ids.tolist() == [4, 9, 11]
    assert found.requests.hash_tokens == 512


def test_failures_of_burstgpt_are_left_out_and_counted(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,ChatGPT,374,0,374,Conversation log\n6.5,GPT-4,396,109,505,API log\n",
    )
    assert found.left_out == 1
    assert found.requests.arrival.tolist() == [0.0]


def test_rows_that_are_alike_are_as_many_requests(tmp_path: Path) -> None:
    assert len(read(tmp_path, HEAD + "1,5,1\n1,5,1\n").requests) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        (HEAD, "has no requests"),
        (HEAD + "1,5,1\n0.5,5,1\n", "line 3: the request comes before the one above it; sort"),
        (HEAD + "1,5,0\n", "line 2: output tokens are 0; .* leave the row out"),
        (HEAD + "1,0,5\n", "line 2: input tokens are 0"),
        (HEAD + "1,-4,5\n", "line 2: input tokens are -4"),
        (HEAD + "1,4.5,5\n", "line 2: input tokens are 4.5"),
        (HEAD + "1,nan,5\n", "line 2: input tokens are nan"),
        (HEAD + "nan,4,5\n", "line 2: the time of arrival is nan"),
        (HEAD + "1,4,5\ninf,4,5\n", "line 3: the time of arrival is inf"),
        (HEAD + "1,99999999999,5\n", "line 2: input tokens are 1e\\+11"),
        (HEAD + "1,many,5\n", "line 2: input tokens is 'many', no number"),
        (HEAD + "soon,4,5\n", "line 2: the time of arrival is 'soon'"),
        (HEAD + "1,4\n", "line 2 has 2 columns; it needs 3"),
        ("arrival_s,input_tokens\n1,2\n", "has no column output_tokens or"),
        ("one,two\n", "name its columns"),
        ('{"timestamp": 0}\n', "line 1 is .* write an object with timestamp"),
        ('{"timestamp": 0, "input_length": 5, "output_length": 1, "hash_ids": ["a"]}', "list of whole numbers"),
        ('{"timestamp": 0, "input_length": 5, "output_length": 1, "hash_ids": [1, 2]}', "has no 2 blocks of 512"),
        ('{"timestamp": 0, "input_length": 5, "output_length": 1}\n[1]', "line 2 is"),
    ],
)
def test_a_row_that_is_none_is_refused_with_its_place_and_cure(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        read(tmp_path, text)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DescriptionError, match="UTF-8"):
        read_trace(file)
    with pytest.raises(DescriptionError, match="is a folder"):
        read_trace(tmp_path)
