"""What `urbankg check` looks for in ontology files, and the forms in which findings are reported.

May import the modules of `ontology` itself.
"""
