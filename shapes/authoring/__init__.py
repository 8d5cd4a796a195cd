"""What an editor of shapes needs: linting, shapes generated from OWL, the impact of an edit.

May import `shapes.gate` and `shapes.engine`.
"""
