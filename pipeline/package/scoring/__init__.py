"""How much of what a golden report found another report states, and how much of it is wrong."""
