"""Classical multi-objective algorithms on our environments, compared by the field's indicators."""
