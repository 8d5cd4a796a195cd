"""pySHACL, the reference engine, over lazy views of the data and the shapes."""
