"""JSON documents, one module a verb: what ``--json`` prints and ``volvelle schema VERB`` describes."""
