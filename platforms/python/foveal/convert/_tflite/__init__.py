"""The TFLite importer's parts: schema facts, sparse weights, one mapping function per operator.

To add an operator, write a function under `@op("NAME")` in one of the modules here; a new
module is found by itself.
"""
