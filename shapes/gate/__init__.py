"""The gate: which focus nodes a change affects, whether they conform, and which statement is at fault.

May import `shapes.engine`.
"""
