"""Batches that wait: kept in the graph, judged while others write, committed in the order of arrival."""
