"""The engines behind the gate: compiled tests, and pySHACL, the reference.

May import the modules of `shapes` itself, and the types of `shapes.gate`.
"""
