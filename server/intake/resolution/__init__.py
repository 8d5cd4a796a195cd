"""What of a text is known already: places, their namesakes and geometries, and values that agree."""
