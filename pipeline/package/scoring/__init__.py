"""Report and anchor facts -> a score, and its calibration against look-alikes."""
