"""The sample city: outlines, landmarks and lines of New York with a dozen texts about them."""
