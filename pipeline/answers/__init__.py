"""What commands, agents and notebooks are answered: a warehouse in, plain values out."""
