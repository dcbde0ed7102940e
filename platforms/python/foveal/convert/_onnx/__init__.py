"""The ONNX importer's parts: message tables, node context, one mapping function per operator.

To add an operator, write a function under `@op("Name")` in one of the modules here; a new
module is found by itself.
"""
