"""Draws detections on a copy of the upright picture."""
