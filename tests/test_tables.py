from isthmus._utils.tables import count, markdown_table, text_table


def test_columns_are_aligned_on_the_right():
    assert text_table(("k", "share"), [("2", "0.5"), ("10", "0.25")]) == [
        " k  share",
        " 2    0.5",
        "10   0.25",
    ]


def test_cells_cannot_break_a_markdown_table():
    assert markdown_table(("a", "b"), [("x | y", "two\nlines")]) == [
        "| a | b |",
        "| --- | --- |",
        "| x \\| y | two lines |",
    ]


def test_numbers_have_the_right_noun():
    assert [count(n, "cluster") for n in (0, 1, 1200)] == [
        "0 clusters",
        "1 cluster",
        "1,200 clusters",
    ]
