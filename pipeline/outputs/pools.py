"""The dataset of a pool's documents; see `datasets` for the outputs of a run."""

from __future__ import annotations

from goodgain.pipeline.outputs.datasets import Column, Dataset


def pool_documents(name: str) -> Dataset:
    """The dataset of a pool's documents, named like its folder."""
    return Dataset(
        name,
        "One row for each document of a topic; those of a topic are together, in the order found.",
        (
            Column("topic", "text", "Value of the topic's attribute.", nullable=True),
            Column(
                "conversation_id",
                "text",
                "The topic itself, if conversations have no such attribute.",
                nullable=True,
            ),
            Column("number", "whole", "Number in the order in which documents were added, from 1."),
            Column(
                "document", "text", "Id of the document; it does not change when the pool grows."
            ),
            Column("label", "whole", "The label that counts.", nullable=True),
            Column("entity_type", "text", "Type.", nullable=True),
            Column("title", "text", "A title.", nullable=True),
            Column("url", "text", "A URL.", nullable=True),
            Column("given", "text", "JSON: labels that annotators assigned, by annotator."),
            Column("votes", "text", "JSON: its label in each conversation's trace."),
            Column("places", "text", "JSON: where it was seen."),
            Column("evidence", "text", "JSON: its distinct evidence, with texts."),
        ),
    )
