"""What a clause makes of its statement: stated, denied, supposed, ordered, claimed by others, in fiction."""
