"""The tests of blade."""
