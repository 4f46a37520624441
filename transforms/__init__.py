"""What anyone can put into a Beam pipeline of their own; `transforms.core` works without Beam."""
