"""What a person sees and touches: the Textual interface over the headless assistant."""
